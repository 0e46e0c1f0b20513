package terminal

import "sync"

// scrollBack is how much of what a terminal has shown is kept for those who come back, in bytes.
const scrollBack = 256 << 10

// buffer keeps the last bytes of a stream, which readers follow at their own pace. It grows with what is written, up to scrollBack.
type buffer struct {
	mu     sync.Mutex
	data   []byte // the last bytes, oldest first
	end    int64  // how many were ever written
	closed bool
	wake   chan struct{} // closed when there is something new
	reads  map[*Client]int64
	room   chan struct{} // closed when a reader has moved on
}

func newBuffer() *buffer {
	return &buffer{wake: make(chan struct{}), room: make(chan struct{}), reads: map[*Client]int64{}}
}

// write adds bytes.
func (b *buffer) write(p []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.data = append(b.data, p...)
	if over := len(b.data) - scrollBack; over > scrollBack/4 { // so that not every write moves everything
		b.data = append(b.data[:0], b.data[over:]...)
	}
	b.end += int64(len(p))
	b.ring()
}

func (b *buffer) ring() {
	close(b.wake)
	b.wake = make(chan struct{})
}

// close says that nothing comes any more.
func (b *buffer) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.closed = true
		b.ring()
	}
}

// after returns up to most bytes from an offset, or from the oldest that is kept, and the offset behind them. Where there are none yet, wake tells
// when to look again; ended says that none will come.
func (b *buffer) after(from int64, most int) (p []byte, next int64, ended bool, wake <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	from = max(from, b.end-int64(len(b.data)))
	if from >= b.end {
		return nil, b.end, b.closed, b.wake
	}
	p = b.data[int64(len(b.data))-(b.end-from):]
	p = append([]byte(nil), p[:min(len(p), most)]...)
	return p, from + int64(len(p)), false, b.wake
}

// join adds a reader at an offset, or at the nearest one that can be read, and returns it, and where the end is now. ok is false where there are
// most readers already.
func (b *buffer) join(c *Client, from int64, most int) (at, end int64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.reads) >= most {
		return 0, 0, false
	}
	at = min(max(from, b.end-int64(len(b.data))), b.end)
	b.reads[c] = at
	close(b.room)
	b.room = make(chan struct{})
	return at, b.end, true
}

// follow notes how far a reader is.
func (b *buffer) follow(c *Client, at int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reads[c] = at
	close(b.room)
	b.room = make(chan struct{})
}

// leave removes a reader, and returns how many are left.
func (b *buffer) leave(c *Client) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.reads, c)
	close(b.room)
	b.room = make(chan struct{})
	return len(b.reads)
}

// behind returns a channel to wait for where all readers are more than most bytes behind; nil where one isn't, or there is none.
func (b *buffer) behind(most int64) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, at := range b.reads {
		if b.end-at <= most {
			return nil
		}
	}
	if len(b.reads) == 0 {
		return nil
	}
	return b.room
}

// readers is how many there are.
func (b *buffer) readers() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.reads)
}
