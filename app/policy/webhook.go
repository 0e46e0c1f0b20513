package policy

import "context"

// Webhooks asks a tenant's webhooks about requests before they are accepted.
type Webhooks interface {
	// AskAbout returns the answers of all webhooks that are about such a request, in the order of their names, within seconds. One that
	// does not answer is an answer as well, see WebhookAnswer. An error means that it is unknown whether there are any.
	AskAbout(ctx context.Context, q WebhookQuestion) ([]WebhookAnswer, error)
}

// WebhookQuestion is what webhooks are asked about.
type WebhookQuestion struct {
	Facts   Input
	Changes []Change // that policies made so far
	DryRun  bool     // it is a preview: nothing happens whatever they answer, and an answer from moments ago will do
}

// WebhookAnswer is what a webhook answered.
type WebhookAnswer struct {
	Webhook  string
	Refused  bool
	Reason   string
	Set      Values
	Approval *Approval // that it requires
	// Ignored is why there was no answer, where requests continue without one; such an answer has nothing else.
	Ignored string
}
