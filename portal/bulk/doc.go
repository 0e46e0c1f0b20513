// Package bulk serves what is done to several clusters at once: the page that asks for confirmation, its result, and the REST operations.
package bulk
