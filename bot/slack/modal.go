package slack

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/slack-go/slack"

	"muster/bot"
)

// parts shows the pieces of a modal or a home. Fields are only for modals.
func parts(list []bot.Part, fields bool) (blocks []slack.Block) {
	for i, p := range list {
		if p.Title != "" {
			blocks = append(blocks, slack.NewHeaderBlock(plain(p.Title, mostHeader)))
		}
		lines := sections
		if p.Quiet {
			lines = asides
		}
		blocks = append(append(blocks, lines(p.Lines)...), logged(p.Log)...)
		if p.Field != nil && fields {
			blocks = append(blocks, input(*p.Field))
		}
		blocks = append(blocks, actions(p.Links, p.Buttons, fmt.Sprintf("%d.", i))...)
	}
	if len(blocks) > mostViewBlocks {
		blocks = append(blocks[:mostViewBlocks-1:mostViewBlocks-1], more())
	}
	if len(blocks) == 0 { // Slack takes none that is empty
		blocks = sections([]string{""})
	}
	return blocks
}

// modalView is a modal as Slack takes it.
func modalView(m bot.Modal) slack.ModalViewRequest {
	v := slack.ModalViewRequest{Type: slack.VTModal, Title: plain(m.Title, mostTitle), Close: plain("Close", mostTitle), CallbackID: cut(m.ID, mostName),
		Blocks: slack.Blocks{BlockSet: parts(m.Parts, true)}}
	if len(m.Note) <= mostNote {
		v.PrivateMetadata = m.Note
	}
	if m.Submit != "" {
		v.Submit, v.Close = plain(m.Submit, mostTitle), plain("Cancel", mostTitle)
	}
	return v
}

// homeView is a home as Slack takes it.
func homeView(h bot.Home) slack.HomeTabViewRequest {
	return slack.HomeTabViewRequest{Type: slack.VTHomeTab, Blocks: slack.Blocks{BlockSet: parts(h.Parts, false)}, CallbackID: "home"}
}

// input is a field. Slack keeps what was typed into a block of the same name when a modal is updated.
func input(f bot.Field) *slack.InputBlock {
	act := actionKeep
	if f.Live {
		act = actionFill
	}
	var hint, placeholder *slack.TextBlockObject
	if f.Hint != "" {
		hint = plain(f.Hint, mostLabel)
	}
	if f.Placeholder != "" {
		placeholder = plain(f.Placeholder, mostPlaceholder)
	}
	block := slack.NewInputBlock(cut(f.Name, mostName), plain(f.Label, mostLabel), hint, element(f, act, placeholder))
	block.Optional, block.DispatchAction = f.Optional, f.Live
	return block
}

func element(f bot.Field, act string, placeholder *slack.TextBlockObject) slack.BlockElement {
	first := ""
	if len(f.Values) > 0 {
		first = f.Values[0]
	}
	if (f.Kind == bot.FieldChoice && !f.Asked || f.Kind == bot.FieldMany) && len(options(f.Choices)) == 0 {
		f.Kind = bot.FieldText // Slack takes no menu without a choice
	}
	switch f.Kind {
	case bot.FieldNumber:
		e := slack.NewNumberInputBlockElement(placeholder, act, false)
		if _, err := strconv.Atoi(first); err == nil {
			e.InitialValue = first
		}
		if f.Min != nil {
			e.MinValue = strconv.Itoa(*f.Min)
		}
		if f.Max != nil {
			e.MaxValue = strconv.Itoa(*f.Max)
		}
		if f.Live {
			e.DispatchActionConfig = onEnter
		}
		return e
	case bot.FieldChoice:
		options, chosen := options(f.Choices), (*slack.OptionBlockObject)(nil)
		for _, o := range options {
			if o.Value == first && first != "" {
				chosen = o
			}
		}
		if f.Asked {
			least := 0
			e := slack.NewOptionsSelectBlockElement(slack.OptTypeExternal, placeholder, act)
			e.InitialOption, e.MinQueryLength = chosen, &least
			return e
		}
		e := slack.NewOptionsSelectBlockElement(slack.OptTypeStatic, placeholder, act, options...)
		e.InitialOption = chosen
		return e
	case bot.FieldMany:
		e := slack.NewOptionsMultiSelectBlockElement(slack.MultiOptTypeStatic, placeholder, act, options(f.Choices)...)
		for _, o := range e.Options {
			for _, v := range f.Values {
				if o.Value == v {
					e.InitialOptions = append(e.InitialOptions, o)
				}
			}
		}
		return e
	}
	most := mostTyped
	if f.Most > 0 {
		most = min(f.Most, mostTyped)
	}
	e := slack.NewPlainTextInputBlockElement(placeholder, act)
	e.Multiline, e.MaxLength, e.InitialValue = f.Kind == bot.FieldLong, most, cut(first, most)
	if f.Live {
		e.DispatchActionConfig = onEnter
	}
	return e
}

// onEnter has what is typed told when someone ends it, and not at each letter.
var onEnter = &slack.DispatchActionConfig{TriggerActionsOn: []string{"on_enter_pressed"}}

// options are choices as Slack takes them: at most a hundred, each with a value that is whole.
func options(choices []bot.Choice) []*slack.OptionBlockObject {
	list := []*slack.OptionBlockObject{}
	for _, c := range choices {
		if c.Value == "" || len(c.Value) > mostOptionValue || len(list) == mostOptions {
			continue
		}
		var hint *slack.TextBlockObject
		if c.Hint != "" {
			hint = plain(c.Hint, mostOption)
		}
		list = append(list, slack.NewOptionBlockObject(c.Value, plain(c.Name, mostOption), hint))
	}
	return list
}

// formOf reads what stands in a modal. Done is what was changed or pressed in it; nil where it was sent off.
func formOf(v slack.View, done *slack.BlockAction) bot.Form {
	f := bot.Form{ID: v.CallbackID, Note: v.PrivateMetadata, Values: map[string][]string{}}
	if v.State != nil {
		for name, acts := range v.State.Values {
			for _, a := range acts {
				f.Values[name] = valuesOf(a)
			}
		}
	}
	if done == nil {
		return f
	}
	if done.Type == slack.ActionType(slack.METButton) {
		f.Pressed = done.Value
		return f
	}
	f.Changed = done.BlockID
	// What has just changed counts, should the state be older.
	if strings.HasPrefix(done.ActionID, actionFill) {
		f.Values[done.BlockID] = valuesOf(*done)
	}
	return f
}

func valuesOf(a slack.BlockAction) (list []string) {
	for _, o := range append(a.SelectedOptions, a.SelectedOption) {
		if o.Value != "" {
			list = append(list, o.Value)
		}
	}
	if a.Value != "" {
		list = append(list, a.Value)
	}
	return list
}

// unfurls are what stands beneath links, by link. They are plain text as all is.
func unfurls(list []bot.Unfurl) map[string]slack.Attachment {
	all := map[string]slack.Attachment{}
	for _, u := range list {
		blocks := append([]slack.Block{slack.NewSectionBlock(plain(u.Title, mostHeader), nil, nil)}, asides(u.Lines)...)
		blocks = blocks[:min(roomy(blocks), mostBlocks-1)]
		blocks = append(blocks, actions([]bot.Link{u.Link}, nil, "")...)
		all[u.URL] = slack.Attachment{Fallback: summary(u.Title), Blocks: slack.Blocks{BlockSet: blocks}}
	}
	return all
}
