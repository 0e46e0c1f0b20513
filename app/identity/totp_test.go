package identity

import (
	"testing"
	"time"

	core "muster/app"
	"muster/app/humanize"
)

// The vectors of RFC 6238, appendix B, which have eight digits.
func TestTOTPMatchesTheRFC(t *testing.T) {
	for unix, want := range map[int64]string{
		59: "94287082", 1111111109: "07081804", 1111111111: "14050471", 1234567890: "89005924", 2000000000: "69279037", 20000000000: "65353130",
	} {
		if got := totpCode([]byte("12345678901234567890"), totpStep(time.Unix(unix, 0)), 8); got != want {
			t.Errorf("at %d: %s, want %s", unix, got, want)
		}
	}
}

func TestValidSecondFactorProofs(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 10, 0, time.UTC)
	secret := []byte("12345678901234567890")
	code := func(steps int64) string { return totpCode(secret, totpStep(now)+steps, totpDigits) }
	codes, hashes := newRecoveryCodes()
	gone, _ := newRecoveryCodes()
	key := func(keys []SecondFactor) (SecondFactor, error) {
		if len(keys) != 1 {
			return SecondFactor{}, wrongCode("no", "")
		}
		return keys[0], nil
	}
	for _, c := range []struct {
		name     string
		proof    FactorProof
		usedStep int64 // of the app, relative to now
		lost     bool  // the key that the app's secret was encrypted with
		want     core.FactorKind
	}{
		{"the code of now", FactorProof{Code: code(0)}, -9, false, FactorApp},
		{"with a space", FactorProof{Code: code(0)[:3] + " " + code(0)[3:]}, -9, false, FactorApp},
		{"the one before", FactorProof{Code: code(-1)}, -9, false, FactorApp},
		{"the next one", FactorProof{Code: code(1)}, -9, false, FactorApp},
		{"two before", FactorProof{Code: code(-2)}, -9, false, ""},
		{"two ahead", FactorProof{Code: code(2)}, -9, false, ""},
		{"used already", FactorProof{Code: code(0)}, 0, false, ""},
		{"before one that was used", FactorProof{Code: code(-1)}, 0, false, ""},
		{"after one that was used", FactorProof{Code: code(1)}, 0, false, FactorApp},
		{"of an empty secret, where the real one is lost", FactorProof{Code: totpCode(nil, totpStep(now), totpDigits)}, -9, true, ""},
		{"too short", FactorProof{Code: code(0)[:5]}, -9, false, ""},
		{"a recovery code", FactorProof{Code: codes[3]}, -9, false, FactorRecovery},
		{"a recovery code without dashes, in capitals", FactorProof{Code: "  " + upperPlain(codes[9])}, -9, true, FactorRecovery},
		{"a recovery code of another account", FactorProof{Code: gone[0]}, -9, false, ""},
		{"a security key", FactorProof{Key: key}, -9, false, FactorKey},
		{"nothing", FactorProof{Code: " "}, -9, false, ""},
	} {
		app := SecondFactor{ID: "a", Kind: FactorApp, Secret: secret, UsedStep: totpStep(now) + c.usedStep}
		if c.lost {
			app.Secret = nil
		}
		used, err := c.proof.judge([]SecondFactor{app, {ID: "k", Kind: FactorKey}}, hashes, now)
		if used.Kind != c.want || (c.want == "") != (core.CodeOf(err) == core.EUnauthorized) {
			t.Errorf("%s: %+v, %v", c.name, used, err)
		}
	}
}

func upperPlain(code string) (out string) {
	for _, r := range plainCode(code) {
		out += humanize.Upper(string(r))
	}
	return out
}

func TestRecoveryCodesDiffer(t *testing.T) {
	seen := map[string]bool{}
	codes, hashes := newRecoveryCodes()
	for i, c := range codes {
		if seen[c] || len(c) != 19 || string(hashes[i]) != string(HashToken(plainCode(c))) {
			t.Errorf("code %d: %s", i, c)
		}
		seen[c] = true
	}
	if len(codes) != recoveryCodes {
		t.Errorf("%d codes", len(codes))
	}
}
