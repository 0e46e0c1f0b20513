// Package awsbody stands between AWS's SDK and net/http, for everybody who speaks to AWS. The SDK's request bodies are io.WriterTo, and it closes them when the answer
// begins: from then on that method fails, and net/http, which still looks for the body's end, would cut the connection in the middle of the answer. Behind this package,
// bodies are plain readers, whose end after closing is just that.
package awsbody
