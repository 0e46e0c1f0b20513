package apptest

import (
	"fmt"
	"reflect"
)

// UseCases returns a face's use cases, such as bot.UseCases, with fake as each of them. It panics if fake lacks the methods of one.
func UseCases[T any](fake any) (all T) {
	setUseCases(reflect.ValueOf(&all).Elem(), reflect.ValueOf(fake))
	return all
}

func setUseCases(all, fake reflect.Value) {
	for i := range all.NumField() {
		switch f := all.Field(i); {
		case f.Kind() == reflect.Struct:
			setUseCases(f, fake)
		case !fake.Type().Implements(f.Type()):
			panic(fmt.Sprintf("%s lacks methods of %s: embed that interface where it embeds the others", fake.Type(), f.Type()))
		default:
			f.Set(fake)
		}
	}
}
