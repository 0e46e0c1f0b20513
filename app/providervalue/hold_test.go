package providervalue

import (
	"context"
	"testing"

	"muster/app"
	"muster/app/template"
)

// countingStore counts how often values are read.
type countingStore struct {
	Store
	reads map[string]int
	err   error
}

func (s *countingStore) ProviderValues(_ context.Context, _, cluster string) (*Kept, error) {
	s.reads[cluster]++
	return nil, s.err
}

// The steps of one message read the values of a cluster once; the next message reads them again, and so does one that failed.
func TestValuesAreHeldForOneMessage(t *testing.T) {
	s := &countingStore{reads: map[string]int{}}
	a := &Service{Config: Config{Store: s}}
	read := func(ctx context.Context, cluster string) error {
		_, _, err := a.With(ctx, "t", template.ProviderSpec{}, Own{Cluster: cluster})
		return err
	}
	message := HoldValues(t.Context())
	for _, cluster := range []string{"one", "two", "one", "two", "one"} {
		if err := read(message, cluster); err != nil {
			t.Fatal(err)
		}
	}
	if s.reads["one"] != 1 || s.reads["two"] != 1 {
		t.Errorf("one message reads %v", s.reads)
	}
	_, _ = read(HoldValues(t.Context()), "one"), read(t.Context(), "one")
	if s.reads["one"] != 3 {
		t.Errorf("two more read %v", s.reads)
	}
	s.err = app.Errorf(app.ETransient, "not now")
	if err := read(message, "three"); app.CodeOf(err) != app.ETransient {
		t.Errorf("%v", err)
	}
	s.err = nil
	if err := read(message, "three"); err != nil || s.reads["three"] != 2 {
		t.Errorf("after an error: %v, %v", err, s.reads)
	}
}
