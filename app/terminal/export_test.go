package terminal

// What tests outside of the package look at.
const (
	ScrollBack   = scrollBack
	MostBehind   = mostBehind
	MostOfUser   = mostOfUser
	MostClients  = mostClients
	ForgetLeft   = forgetLeft
	LingerTime   = lingerTime
	MaxRecording = maxRecording
)

// CheckAll is what every open terminal does every few seconds.
func (s *Service) CheckAll() {
	s.mu.Lock()
	var all []*session
	for _, x := range s.open {
		all = append(all, x)
	}
	s.mu.Unlock()
	for _, x := range all {
		if why := s.check(x); why != nil {
			s.end(x, why)
		}
	}
}

// FillRecording lets the recording of a terminal be that long already.
func (s *Service) FillRecording(id string, size int64) {
	r := s.sessionOf(id).record
	r.mu.Lock()
	defer r.mu.Unlock()
	r.size = size
}

// Buffer is what a terminal has shown.
type Buffer struct{ *buffer }

// NewBuffer returns an empty one.
func NewBuffer() Buffer { return Buffer{newBuffer()} }

// Write adds bytes.
func (b Buffer) Write(p []byte) { b.write(p) }

// Kept is what is kept, in bytes.
func (b Buffer) Kept() int { return len(b.data) }

// After returns what follows an offset.
func (b Buffer) After(from int64, most int) (p []byte, next int64) {
	p, next, _, _ = b.after(from, most)
	return p, next
}

// OnNode names the tmux server of a node of cluster shop-1 in a script.
func OnNode(node, script string) string {
	return onNode(Terminal{Tenant: "default", Cluster: "shop-1", Node: node}, script)
}
