package store_test

import (
	"reflect"
	"testing"

	"muster/app/store/storetest"
)

// A part that is embedded and not opened would end the process with the first call.
func TestEveryStoreIsOpened(t *testing.T) {
	s := reflect.ValueOf(storetest.Open(t)).Elem()
	for i := range s.NumField() {
		if s.Field(i).IsZero() {
			t.Errorf("%s is not opened", s.Type().Field(i).Name)
		}
	}
}
