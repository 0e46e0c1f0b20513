package remote

import (
	"bytes"
	"io"
	"strconv"

	"muster/app/family"
)

// sized is an input that knows how much is left of it, as bytes.Reader, strings.Reader and bytes.Buffer do.
type sized interface{ Len() int }

// input is a command's standard input on its way to the node. At most one of data and stream is set.
type input struct {
	data   []byte    // all of it, where it is short; it may be sent again
	stream io.Reader // as it comes
	length int       // of a stream that knows it, -1 of any other
}

// inputOf looks at a command's standard input. The error is the reader's.
func inputOf(cmd family.Command) (input, error) {
	if cmd.Stdin == nil {
		return input{}, nil
	}
	s, ok := cmd.Stdin.(sized)
	if !ok || s.Len() > inputFileMax {
		return input{stream: cmd.Stdin, length: -1}, nil
	}
	if n := s.Len(); n > inputTextMax && !cmd.Once {
		return input{stream: cmd.Stdin, length: n}, nil
	}
	data, err := io.ReadAll(cmd.Stdin)
	if data == nil {
		data = []byte{}
	}
	return input{data: data}, err
}

// sent says how the wrapper treats the input, and returns what is sent at once, if anything is.
func (in input) sent(token string) (how string, data []byte) {
	switch {
	case in.stream != nil && in.length < 0:
		return inputStream, nil
	case in.stream != nil:
		return strconv.Itoa(in.length), nil
	case in.data == nil:
		return inputNone, nil
	}
	n := len(in.data)
	if n == 0 || n > inputTextMax || in.data[n-1] != '\n' || bytes.IndexByte(in.data, 0) >= 0 {
		return strconv.Itoa(n), in.data
	}
	if n <= inputLinesMax {
		return inputLines + strconv.Itoa(bytes.Count(in.data, []byte("\n"))), in.data
	}
	// The node puts the last line break back.
	data = append(append(make([]byte, 0, n-1+len(token)), in.data[:n-1]...), token...)
	return inputText + strconv.Itoa(len(data)), data
}
