package fleet

import (
	"context"

	"muster/app/plugin"
	"muster/portal/site"
)

type pluginList struct {
	Body struct {
		Plugins []plugin.View `json:"plugins"`
	}
}

func (p *Service) apiPluginList(ctx context.Context, _ *struct{}) (*pluginList, error) {
	all, err := p.Plugins.Plugins(ctx, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	out := &pluginList{}
	out.Body.Plugins = site.OrEmpty(all)
	return out, nil
}

// PluginName is a plugin in an address.
type PluginName struct {
	Name string `path:"name" maxLength:"100" doc:"Name of the file, such as muster-provider-lab"`
}

type pluginRegister struct {
	PluginName
	Body struct {
		SHA256 string `json:"sha256,omitempty" maxLength:"64" doc:"SHA-256 that the file must have, in hex; default: that of the file on the server"`
	}
}

func (p *Service) apiPluginRegister(ctx context.Context, in *pluginRegister) (*site.Body[plugin.View], error) {
	v, err := p.Plugins.RegisterPlugin(ctx, site.Caller(ctx), in.Name, in.Body.SHA256)
	return p.plugin(ctx, v, err)
}

func (p *Service) apiPluginRemove(ctx context.Context, in *PluginName) (*site.Body[plugin.View], error) {
	v, err := p.Plugins.RemovePlugin(ctx, site.Caller(ctx), in.Name)
	return p.plugin(ctx, v, err)
}

func (p *Service) plugin(ctx context.Context, v plugin.View, err error) (*site.Body[plugin.View], error) {
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[plugin.View]{Body: v}, nil
}
