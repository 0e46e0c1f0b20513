package nodefile

import "time"

// What tests outside of the package look at.
const (
	MostOfUser = mostOfUser
	TempPrefix = tempPrefix
)

// Limit sets the size of uploads, how long nothing may move, and how soon it's checked who may.
func (s *Service) Limit(size int64, stall, check time.Duration) {
	s.set = limits{size: size, stall: stall, check: check}
}
