package page

// Complaint is what is wrong with a field, and what would be right.
type Complaint struct{ Message, Hint string }

// Choice is an option of a select or a checkbox.
type Choice struct {
	Value, Label, Help string
	Chosen             bool
}
