package server

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"muster/app/humanize"
	"muster/app/resource"
	"muster/app/store/blob"
	"muster/cmd/muster/cli"
	"muster/jobs/cache"

	"github.com/spf13/cobra"
)

// resourceConfig is a server's resource storage and its limits.
type resourceConfig struct {
	URL      string // "": in the data directory
	File     byteSize
	Tenant   byteSize
	Cache    byteSize // of workers in this process
	GitFiles bool
}

func (r *resourceConfig) declare(cmd *cobra.Command) {
	r.File, r.Tenant, r.Cache = resource.DefaultFileLimit, resource.DefaultStoreLimit, defaultResourceCache
	cmd.Flags().StringVar(&r.URL, "blob", "", "`URL` of the blob store for resources, s3://, gs:// or azblob:// (default $MUSTER_BLOB_URL, or the data directory)")
	cmd.Flags().Var(&r.File, "resource-limit", "maximum `bytes` of one version of a resource, such as 500MiB; 0 is no limit")
	cmd.Flags().Var(&r.Tenant, "resource-quota", "maximum `bytes` of all resources of a tenant, such as 50GiB; 0 is no limit")
	cmd.Flags().Var(&r.Cache, "resource-cache", "maximum `bytes` of resources that this process's workers cache on disk")
	cmd.Flags().BoolVar(&r.GitFiles, "resource-git-files", false, "let tenants' admins use Git repositories in directories of this host")
}

// check completes the settings from the environment, and validates them.
func (r *resourceConfig) check() error {
	r.URL = cmp.Or(r.URL, os.Getenv("MUSTER_BLOB_URL"))
	if r.Cache < 1<<20 {
		return cli.Usagef("--resource-cache must be at least 1MiB")
	}
	return nil
}

func (r *resourceConfig) limits() resource.Limits {
	return resource.Limits{File: int64(r.File), Tenant: int64(r.Tenant)}
}

// defaultResourceCache is the default cache size of a host with workers.
const defaultResourceCache = 10 << 30

// openBlobs opens the blob store.
func (s *Server) openBlobs(ctx context.Context) (resource.BlobStore, error) {
	dir := filepath.Join(s.Data, "resources")
	guard := s.guard()
	b, err := blob.Open(ctx, blob.Config{URL: s.Resources.URL, Dir: filepath.Join(dir, "blobs"), Spool: filepath.Join(dir, "spool"),
		Git: blob.GitOptions{Check: guard.CheckURL, Dial: guard.Dial, Files: s.Resources.GitFiles,
			CA: os.Getenv("SSL_CERT_FILE")}}) // the CAs this process itself trusts
	if err != nil {
		return nil, err
	}
	s.onClose(b.Close)
	return b, nil
}

// byteSize is a flag for a number of bytes: 500MiB, 2GB, 1048576.
type byteSize int64

var byteUnits = []struct {
	name string
	size int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"T", 1 << 40}, {"bytes", 1}, {"B", 1}, {"", 1}}

func (b *byteSize) Set(s string) error {
	text := strings.TrimSpace(s)
	for _, u := range byteUnits {
		if n := len(text) - len(u.name); n >= 0 && strings.EqualFold(text[n:], u.name) {
			f, err := strconv.ParseFloat(strings.TrimSpace(text[:n]), 64)
			if err != nil || f < 0 || f*float64(u.size) > 1<<60 {
				break
			}
			*b = byteSize(f * float64(u.size))
			return nil
		}
	}
	return cli.Usagef("%q isn't a number of bytes", s).Hint("Examples: 500MiB, 2GB, 1048576.")
}

func (b *byteSize) String() string {
	for _, u := range []struct {
		name string
		size byteSize
	}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if *b >= u.size && *b%u.size == 0 {
			return strconv.FormatInt(int64(*b/u.size), 10) + u.name // exact, as people write it
		}
	}
	return strings.ReplaceAll(humanize.Bytes(int64(*b)), " ", "")
}

func (b *byteSize) Type() string { return "bytes" }

// resourceCache is the resource cache of a host's workers.
func resourceCache(data string, limit int64, log *slog.Logger) *cache.Resources {
	if limit <= 0 {
		limit = defaultResourceCache
	}
	return &cache.Resources{Dir: filepath.Join(data, "resource-cache"), Limit: limit, Log: log}
}
