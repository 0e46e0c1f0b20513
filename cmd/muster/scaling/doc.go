// Package scaling holds the commands that show and set how clusters are scaled.
package scaling
