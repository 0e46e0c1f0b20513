package site

import (
	"context"

	"muster/app"
)

// Secreting is a power that a Muster may have: to keep named values of a tenant. No face reads them back.
type Secreting interface {
	Secrets(ctx context.Context, a app.Actor) ([]app.Secret, error)
	SetSecret(ctx context.Context, a app.Actor, name string, value []byte) error
	DeleteSecret(ctx context.Context, a app.Actor, name string) error
}

func (p *Site) Secreting() Secreting {
	s, _ := p.Muster.(Secreting)
	return s
}
