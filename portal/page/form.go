package page

// Complaint is a field's error with a hint.
type Complaint struct{ Message, Hint string }

// Choice is an option of a select or a checkbox.
type Choice struct {
	Value, Label, Help string
	Chosen             bool
}
