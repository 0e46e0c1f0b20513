package buildsystems_test

import (
	"testing"
	"time"

	"muster/app"
)

// Deliveries that others have published with their signature: what we sign and verify is what they mean.
func TestPublishedSignatures(t *testing.T) {
	for name, v := range map[string]struct {
		system, secret, body string
		headers              map[string]string
		at                   int64
	}{
		"Standard Webhooks, specification": {"generic", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", `{"test": 2432232314}`, map[string]string{"Webhook-Id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
			"Webhook-Timestamp": "1614265330", "Webhook-Signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="}, 1614265330},
		"Standard Webhooks at GitLab, among others": {"gitlab", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", `{"test": 2432232314}`, map[string]string{"Webhook-Id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
			"Webhook-Timestamp": "1614265330", "Webhook-Signature": "v1a,abc v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="}, 1614265330},
		"GitHub, Validating webhook deliveries": {"github", "It's a Secret to Everybody", "Hello, World!",
			map[string]string{"X-Hub-Signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"}, 0},
		"CircleCI, Outbound webhooks": {"circleci", "hunter123", "an-important-request-payload",
			map[string]string{"Circleci-Signature": "v1=9be2242094a9a8c00c64306f382a7f9d691de910b4a266f67bd314ef18ac49fa"}, 0},
		"CircleCI, with a version to come": {"circleci", "secret", "hello world",
			map[string]string{"Circleci-Signature": "v2=abc,v1=734cc62f32841568f45715aeb9f4d7891324e6d948e4c6c60c0621cdac48623a"}, 0},
	} {
		d, err := family.Verify(v.system, func(h string) string { return v.headers[h] }, []byte(v.body), []string{v.secret}, time.Unix(v.at, 0))
		if err != nil || d.Unique == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Where there is a signature it decides: a token beside it cannot stand in for it, and taking the signature away does not help.
func TestTokensCannotReplaceSignatures(t *testing.T) {
	for system, h := range map[string]map[string]string{
		"gitlab":    {"X-Gitlab-Token": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "Webhook-Id": "a", "Webhook-Timestamp": "0", "Webhook-Signature": "v1,AAAA"},
		"buildkite": {"X-Buildkite-Token": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "X-Buildkite-Signature": "timestamp=0,signature=00"},
	} {
		_, err := family.Verify(system, func(name string) string { return h[name] }, []byte("{}"), []string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}, time.Unix(0, 0))
		if app.CodeOf(err) != app.EUnauthorized || app.AsError(err).Reason != "signature" {
			t.Errorf("%s: %v", system, err)
		}
	}
}

// What is signed can be taken apart in one way only: id, time and body of one delivery are not those of another.
func TestWhatIsSignedIsNotMovedAcrossDots(t *testing.T) {
	for _, id := range []string{"msg.1", "msg 1", "msg\n", "", "é"} {
		h := map[string]string{"Webhook-Id": id, "Webhook-Timestamp": "1614265330", "Webhook-Signature": "v1,AAAA"}
		if _, err := family.Verify("generic", func(name string) string { return h[name] }, []byte("{}"), []string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}, time.Unix(1614265330, 0)); err == nil || app.AsError(err).Field != "Webhook-Id" {
			t.Errorf("the id %q: %v", id, err)
		}
	}
	for _, stamp := range []string{"-1", "+1", "1.5", "1e9", " 1", "99999999999999999999", "0x1", "1_0"} {
		h := map[string]string{"Webhook-Id": "a", "Webhook-Timestamp": stamp, "Webhook-Signature": "v1,AAAA"}
		if _, err := family.Verify("generic", func(name string) string { return h[name] }, []byte("{}"), []string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}, time.Unix(1, 0)); app.CodeOf(err) != app.EInvalid || app.AsError(err).Field != "Webhook-Timestamp" {
			t.Errorf("the time %q: %v", stamp, err)
		}
	}
}
