package execution

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"muster/app"
)

// checkAnswer refuses what is no answer whatever was asked.
func (s StepAnswer) check() error {
	switch {
	case s.Refuse != "" && len(s.Values) > 0:
		return &app.Error{Code: app.EInvalid, Field: "refuse", Message: "Who refuses types no values.", Hint: "Send either values or a reason to refuse."}
	case len(s.Refuse) > app.MaxRefusal || !utf8.ValidString(s.Refuse):
		return &app.Error{Code: app.EInvalid, Field: "refuse", Message: fmt.Sprintf("A reason has at most %d bytes.", app.MaxRefusal)}
	case s.Refuse != "" && strings.TrimSpace(s.Refuse) == "":
		return &app.Error{Code: app.EInvalid, Field: "refuse", Message: "It is not said why.", Hint: "Whoever goes on from there will want to know."}
	case len(s.Values) > app.MaxQuestionFields:
		return &app.Error{Code: app.ETooLarge, Field: "values", Message: fmt.Sprintf("A question has at most %d fields.", app.MaxQuestionFields)}
	}
	return nil
}
