package blob

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"gocloud.dev/aws"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"

	"muster/app/awsbody"
)

// openS3 opens what s3blob would open by the same URL, with a client of our own: see awsbody.
func openS3(ctx context.Context, u *url.URL) (*blob.Bucket, error) {
	q := u.Query()
	taken := func(names ...string) (last string) {
		for _, name := range names {
			if v := q.Get(name); v != "" {
				last = v
			}
			q.Del(name)
		}
		return last
	}
	options := s3blob.Options{KMSEncryptionID: taken("kmskeyid")}
	if kind := taken("ssetype"); kind != "" {
		for _, known := range types.ServerSideEncryption("").Values() {
			if strings.EqualFold(string(known), kind) {
				options.EncryptionType = known
			}
		}
		if options.EncryptionType == "" {
			return nil, fmt.Errorf("%q is not a valid value for ssetype", kind)
		}
	}
	var choices [3]bool
	for i, names := range [][]string{{"accelerate"}, {"disable_https"}, {"use_path_style", "s3ForcePathStyle"}} {
		if text := taken(names...); text != "" {
			var err error
			if choices[i], err = strconv.ParseBool(text); err != nil {
				return nil, fmt.Errorf("invalid value for %s: %w", names[0], err)
			}
		}
	}
	conf, err := aws.V2ConfigFromURLParams(ctx, q)
	if err != nil {
		return nil, err
	}
	conf.HTTPClient = awsbody.Client(conf.HTTPClient)
	options.RequestChecksumCalculation = conf.RequestChecksumCalculation // the part that uploads does not take it from there by itself
	client := s3.NewFromConfig(conf, func(o *s3.Options) {
		o.UseAccelerate, o.EndpointOptions.DisableHTTPS, o.UsePathStyle = choices[0], choices[1], choices[2]
	})
	return s3blob.OpenBucket(ctx, client, u.Host, &options)
}
