// Package nodefile shows the files of nodes in the browser: lists, downloads and uploads.
package nodefile
