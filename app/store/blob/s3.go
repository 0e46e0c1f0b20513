//go:build !small

package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"muster/app/awsbody"
	"muster/app/cloudurl"
)

const (
	partSize = 64 << 20 // what is longer is sent in parts of this size, each of which can be tried again
	maxParts = 10000    // that S3 takes
)

// simpleStorage is a bucket of S3, or of what speaks like it.
type simpleStorage struct {
	client     *s3.Client
	bucket     *string
	encryption types.ServerSideEncryption
	key        *string // that encrypts; nil: what the bucket says
	partSize   int64
}

func openS3(ctx context.Context, u *url.URL) (backend, error) {
	if err := hostOnly(u, "bucket"); err != nil {
		return nil, err
	}
	p := cloudurl.Of(u)
	s := &simpleStorage{bucket: aws.String(u.Host), partSize: partSize}
	var kinds []string
	for _, kind := range s.encryption.Values() {
		kinds = append(kinds, string(kind))
	}
	s.encryption = types.ServerSideEncryption(p.OneOf("ssetype", kinds...))
	if key := p.Text("kmskeyid"); key != "" {
		s.key = aws.String(key)
	}
	accelerate, plain := p.Flag("accelerate"), p.Flag("disable_https")
	pathStyle, older := p.Flag("use_path_style"), p.Flag("s3ForcePathStyle")
	conf, err := p.AWS(ctx)
	if err != nil {
		return nil, err
	}
	conf.HTTPClient = awsbody.Client(conf.HTTPClient)
	s.client = s3.NewFromConfig(conf, func(o *s3.Options) {
		o.UseAccelerate, o.EndpointOptions.DisableHTTPS, o.UsePathStyle = accelerate, plain, pathStyle || older
	})
	return s, nil
}

// ofS3 translates an error. HEAD has no body, so that only its status tells what is wrong.
func ofS3(err error) error {
	if errors.Is(err, cloudurl.ErrCredentials) {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	var answer *awshttp.ResponseError
	if errors.As(err, &answer) {
		return ofStatus(answer.HTTPStatusCode(), err)
	}
	return err
}

func (s *simpleStorage) open(ctx context.Context, name string, from int64) (io.ReadCloser, error) {
	in := &s3.GetObjectInput{Bucket: s.bucket, Key: &name}
	if from > 0 {
		in.Range = aws.String(fmt.Sprintf("bytes=%d-", from))
	}
	out, err := s.client.GetObject(ctx, in)
	if err != nil {
		return nil, ofS3(err)
	}
	return out.Body, nil
}

func (s *simpleStorage) size(ctx context.Context, name string) (int64, error) {
	out, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: s.bucket, Key: &name})
	if err = ofS3(err); errors.Is(err, errAbsent) {
		return -1, nil
	}
	if err != nil {
		return -1, err
	}
	if out.ContentLength == nil {
		return -1, errors.New("the answer has no size")
	}
	return *out.ContentLength, nil
}

var octets = aws.String("application/octet-stream")

func (s *simpleStorage) write(ctx context.Context, name string, content *io.SectionReader) error {
	if content.Size() > s.partSize {
		return ofS3(s.writeParts(ctx, name, content))
	}
	_, err := s.client.PutObject(ctx, &s3.PutObjectInput{Bucket: s.bucket, Key: &name, Body: content, ContentLength: aws.Int64(content.Size()),
		ContentType: octets, ServerSideEncryption: s.encryption, SSEKMSKeyId: s.key})
	return ofS3(err)
}

// writeParts sends a content in parts. They become an object when the last call says that these are all.
func (s *simpleStorage) writeParts(ctx context.Context, name string, content *io.SectionReader) (err error) {
	begun, err := s.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: s.bucket, Key: &name, ContentType: octets,
		ServerSideEncryption: s.encryption, SSEKMSKeyId: s.key})
	if err != nil {
		return err
	}
	defer func() {
		if err == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		_, _ = s.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: s.bucket, Key: &name, UploadId: begun.UploadId})
	}()
	size := max(s.partSize, content.Size()/maxParts+1)
	var parts []types.CompletedPart
	for from := int64(0); from < content.Size(); from += size {
		n := min(size, content.Size()-from)
		number := aws.Int32(int32(len(parts) + 1))
		out, err := s.client.UploadPart(ctx, &s3.UploadPartInput{Bucket: s.bucket, Key: &name, UploadId: begun.UploadId, PartNumber: number,
			Body: io.NewSectionReader(content, from, n), ContentLength: aws.Int64(n)})
		if err != nil {
			return err
		}
		parts = append(parts, types.CompletedPart{PartNumber: number, ETag: out.ETag, ChecksumCRC32: out.ChecksumCRC32, ChecksumCRC32C: out.ChecksumCRC32C,
			ChecksumCRC64NVME: out.ChecksumCRC64NVME, ChecksumSHA1: out.ChecksumSHA1, ChecksumSHA256: out.ChecksumSHA256})
	}
	_, err = s.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{Bucket: s.bucket, Key: &name, UploadId: begun.UploadId,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: parts}})
	return err
}

func (s *simpleStorage) remove(ctx context.Context, name string) error {
	_, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: s.bucket, Key: &name})
	return ofS3(err)
}

func (s *simpleStorage) list(ctx context.Context, prefix string, each func(name string, at time.Time) error) error {
	pages := s3.NewListObjectsV2Paginator(s.client, &s3.ListObjectsV2Input{Bucket: s.bucket, Prefix: &prefix})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return ofS3(err)
		}
		for _, o := range page.Contents {
			if err := each(aws.ToString(o.Key), aws.ToTime(o.LastModified)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *simpleStorage) close() error { return nil }
