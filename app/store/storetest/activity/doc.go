// Package activity is the part of the store's suite about what people see of what others do.
package activity
