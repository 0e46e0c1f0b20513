package discovery

import (
	"fmt"
	"reflect"
	"strings"
)

// CompareType checks that each field of a Go type is in a schema of the method's API, with the same name and form. Fields that the type lacks are fine.
func (m *Method) CompareType(at string, t reflect.Type, s *Schema) error {
	s = m.Resolve(s)
	wrong := fmt.Errorf("%s is %s in the client, and %s %s for %s", at, t, s.Type, s.Format, m.ID)
	switch t.Kind() {
	case reflect.Pointer:
		return m.CompareType(at, t.Elem(), s)
	case reflect.Slice:
		if s.Type != "array" {
			return wrong
		}
		return m.CompareType(at+"[]", t.Elem(), s.Items)
	case reflect.Map:
		if s.AdditionalProperties == nil {
			return wrong
		}
		return m.CompareType(at+".*", t.Elem(), s.AdditionalProperties)
	case reflect.Struct:
		return m.compareFields(at, t, s)
	}
	if s.Type != map[reflect.Kind]string{reflect.String: "string", reflect.Bool: "boolean", reflect.Int64: "integer", reflect.Float64: "number"}[t.Kind()] {
		return wrong
	}
	return nil
}

func (m *Method) compareFields(at string, t reflect.Type, s *Schema) error {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous {
			if err := m.compareFields(at, f.Type, s); err != nil {
				return err
			}
			continue
		}
		p := s.Properties[name]
		if p == nil {
			return fmt.Errorf("%s has no field %s at %s", m.ID, name, at)
		}
		if p = m.Resolve(p); (p.Format == "int64" || p.Format == "uint64") != strings.Contains(options, ",string") || !strings.HasPrefix(options, "omitempty") {
			return fmt.Errorf("%s.%s has the options %q in the client, and the format %q for %s", at, name, options, p.Format, m.ID)
		}
		if strings.Contains(options, ",string") {
			continue
		}
		if err := m.CompareType(at+"."+name, f.Type, p); err != nil {
			return err
		}
	}
	return nil
}
