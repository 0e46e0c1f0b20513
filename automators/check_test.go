package automators

import (
	"testing"

	"muster/app"
	"muster/app/family"
)

// What a description does not say of a field's type is not made up from its default: catalogs that were good stay so.
func TestFieldChecksUseDeclaredTypesOnly(t *testing.T) {
	d := family.Descriptor{Name: "sized", Fields: []family.Field{{Name: "size", Default: "2"}, {Name: "wait", Default: "2", Type: family.FieldInt}, {Name: "pause", Type: family.FieldBool},
		{Name: "on", Options: []string{"true", "false"}}}}
	for _, c := range []struct{ field, value, wrong string }{
		{"size", "2", ""}, {"size", "0.5", ""}, {"size", "512m", ""},
		{"wait", "2", ""}, {"wait", "%config.wait%", ""}, {"wait", "0.5", "bad_value"}, {"wait", "512m", "bad_value"},
		{"pause", "true", ""}, {"pause", "yes", "bad_value"},
		{"on", "true", ""}, {"on", "yes", "bad_option"},
	} {
		err := checkFields(d, map[string]string{c.field: c.value})
		if e := app.AsError(err); (err != nil) != (c.wrong != "") || err != nil && (e.Reason != c.wrong || e.Field != c.field) {
			t.Errorf("%s=%s: %v, want %q", c.field, c.value, err, c.wrong)
		}
	}
}
