// Package request keeps requests, reviews and decisions. It uses package operation to carry out what was approved in the
// same transaction.
package request
