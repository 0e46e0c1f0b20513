// Package window keeps maintenance windows. The requests that wait for them are in package request.
package window
