//go:build !small

package blob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	sdk "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"muster/app/cloudurl"
	"muster/app/retry"
)

// azureStorage is a container of Azure Blob Storage.
type azureStorage struct{ client *container.Client }

// azureAccount is what the environment says of an account, and what the URL says instead.
type azureAccount struct {
	name, domain, protocol string
	cdn, emulator          bool
	connection             string // a connection string
	key, token             string // of the account; a shared access signature
	keyOf                  string // the name that goes with the key
}

func openAzure(_ context.Context, u *url.URL) (backend, error) {
	p := cloudurl.Of(u)
	a := azureOfEnvironment()
	fixed, fixedErr := a.service()
	for name, field := range map[string]*string{"storage_account": &a.name, "domain": &a.domain, "protocol": &a.protocol} {
		if p.Given(name) {
			*field = p.Text(name)
		}
	}
	for name, field := range map[string]*bool{"cdn": &a.cdn, "localemu": &a.emulator} {
		if p.Given(name) {
			*field = p.Flag(name)
		}
	}
	if err := cmp.Or(p.Err(), hostOnly(u, "container")); err != nil {
		return nil, err
	}
	service, err := a.service()
	if err != nil {
		return nil, err
	}
	// The signature is a part of the address: a URL must not send it to another host.
	if a.key == "" && a.token != "" && (fixedErr != nil || service.Scheme != fixed.Scheme || service.Host != fixed.Host) {
		return nil, cloudurl.Invalid("The URL can't change the host that AZURE_STORAGE_SAS_TOKEN is for.")
	}
	client, err := a.client(service, u.Host)
	if err != nil {
		e := cloudurl.Invalid("The Azure credentials in the environment are invalid.")
		e.Err = err
		return nil, e
	}
	return &azureStorage{client}, nil
}

func azureOfEnvironment() azureAccount {
	a := azureAccount{name: os.Getenv("AZURE_STORAGE_ACCOUNT"), domain: os.Getenv("AZURE_STORAGE_DOMAIN"), protocol: os.Getenv("AZURE_STORAGE_PROTOCOL"),
		key: os.Getenv("AZURE_STORAGE_KEY"), token: os.Getenv("AZURE_STORAGE_SAS_TOKEN"), connection: os.Getenv("AZURE_STORAGE_CONNECTION_STRING")}
	a.cdn, _ = strconv.ParseBool(os.Getenv("AZURE_STORAGE_IS_CDN"))
	a.emulator, _ = strconv.ParseBool(os.Getenv("AZURE_STORAGE_IS_LOCAL_EMULATOR"))
	if a.connection == "" {
		a.connection = os.Getenv("AZURE_STORAGEBLOB_CONNECTIONSTRING")
	}
	if a.keyOf = a.name; a.keyOf == "" {
		a.key = ""
	}
	for part := range strings.SplitSeq(a.connection, ";") {
		switch name, value, _ := strings.Cut(part, "="); {
		case name == "AccountName" && a.name == "":
			a.name = value
		case name == "DefaultEndpointsProtocol" && a.protocol == "":
			a.protocol = value
		}
	}
	return a
}

// service is the address of the account.
func (a azureAccount) service() (*url.URL, error) {
	if a.name == "" {
		e := cloudurl.Invalid("The storage account's name is missing.")
		e.Hint = "Set AZURE_STORAGE_ACCOUNT."
		return nil, e
	}
	domain, protocol := a.domain, a.protocol
	if domain == "" {
		domain = "blob.core.windows.net"
	}
	if protocol == "" {
		protocol = "https"
	}
	if protocol != "http" && protocol != "https" {
		return nil, cloudurl.Invalid("The protocol for Azure must be http or https.")
	}
	where := protocol + "://" + a.name + "." + domain
	if strings.HasPrefix(domain, "127.0.0.1") || strings.HasPrefix(domain, "localhost") || a.emulator {
		where = protocol + "://" + domain + "/" + a.name
	} else if a.cdn {
		where = protocol + "://" + domain
	}
	u, err := url.Parse(where)
	if err != nil {
		return nil, cloudurl.Invalid("The Azure account and domain don't form a valid address.")
	}
	return u, nil
}

// client takes the first of: the account's key, a shared access signature, a connection string, and what Azure's own tools sign in with.
func (a azureAccount) client(service *url.URL, name string) (*container.Client, error) {
	options := &container.ClientOptions{ClientOptions: policy.ClientOptions{Transport: &http.Client{Transport: retry.Transport()},
		Telemetry: policy.TelemetryOptions{ApplicationID: "muster"}}}
	where := service.JoinPath(name)
	switch {
	case a.key != "":
		cred, err := container.NewSharedKeyCredential(a.keyOf, a.key)
		if err != nil {
			return nil, err
		}
		return container.NewClientWithSharedKeyCredential(where.String(), cred, options)
	case a.token != "":
		where.RawQuery = strings.TrimPrefix(a.token, "?")
		return container.NewClientWithNoCredential(where.String(), options)
	case a.connection != "":
		return container.NewClientFromConnectionString(a.connection, name, options)
	}
	cred, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, err
	}
	return container.NewClient(where.String(), cloudurl.Azure(cred), options)
}

// ofAzure translates an error.
func ofAzure(err error) error {
	if errors.Is(err, cloudurl.ErrCredentials) {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	var answer *azcore.ResponseError
	if errors.As(err, &answer) {
		return ofStatus(answer.StatusCode, err)
	}
	return err
}

func (a *azureStorage) open(ctx context.Context, name string, from int64) (io.ReadCloser, error) {
	out, err := a.client.NewBlobClient(name).DownloadStream(ctx, &sdk.DownloadStreamOptions{Range: sdk.HTTPRange{Offset: from}})
	if err != nil {
		return nil, ofAzure(err)
	}
	return out.Body, nil
}

func (a *azureStorage) size(ctx context.Context, name string) (int64, error) {
	out, err := a.client.NewBlobClient(name).GetProperties(ctx, nil)
	if err = ofAzure(err); errors.Is(err, errAbsent) {
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

// write sends what is longer than a block in blocks, which become the content when a list of all of them arrives.
func (a *azureStorage) write(ctx context.Context, name string, content *io.SectionReader) error {
	kind := "application/octet-stream"
	_, err := a.client.NewBlockBlobClient(name).UploadStream(ctx, content, &blockblob.UploadStreamOptions{
		BlockSize: max(8<<20, content.Size()/blockblob.MaxBlocks+1), Concurrency: 3, HTTPHeaders: &sdk.HTTPHeaders{BlobContentType: &kind}})
	return ofAzure(err)
}

func (a *azureStorage) remove(ctx context.Context, name string) error {
	_, err := a.client.NewBlobClient(name).Delete(ctx, nil)
	return ofAzure(err)
}

func (a *azureStorage) list(ctx context.Context, prefix string, each func(name string, at time.Time) error) error {
	pages := a.client.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Prefix: &prefix})
	for pages.More() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return ofAzure(err)
		}
		if page.Segment == nil {
			continue
		}
		for _, b := range page.Segment.BlobItems {
			if b.Name == nil || b.Properties == nil || b.Properties.LastModified == nil {
				return errors.New("an item in the listing has no name or time")
			}
			if err := each(*b.Name, *b.Properties.LastModified); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *azureStorage) close() error { return nil }
