package kms

import (
	"context"
	"net/url"
	"path"
	"strings"

	"gocloud.dev/aws"
	"gocloud.dev/secrets"
	"gocloud.dev/secrets/awskms"

	"muster/app/awsbody"
)

// openAWS opens what awskms would open by the same URL, with a client of our own: see awsbody.
func openAWS(ctx context.Context, u *url.URL) (*secrets.Keeper, error) {
	q, options := u.Query(), awskms.KeeperOptions{EncryptionContext: map[string]string{}}
	for name := range q {
		if key, ok := strings.CutPrefix(name, "context_"); ok {
			options.EncryptionContext[key] = q.Get(name)
			q.Del(name)
		}
	}
	conf, err := aws.V2ConfigFromURLParams(ctx, q)
	if err != nil {
		return nil, err
	}
	conf.HTTPClient = awsbody.Client(conf.HTTPClient)
	client, err := awskms.Dial(conf)
	if err != nil {
		return nil, err
	}
	return awskms.OpenKeeper(client, strings.TrimPrefix(path.Join(u.Host, u.Path), "/"), &options), nil
}
