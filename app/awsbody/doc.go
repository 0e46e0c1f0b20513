// Package awsbody makes the request bodies of AWS's SDK safe for net/http. The SDK's bodies are io.WriterTo and are
// closed when the response begins: from then on WriteTo fails, and net/http, which still looks for the end of the body,
// would cut the connection in the middle of the response. This package wraps them as plain readers, which just end when
// they are closed.
package awsbody
