package slack

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/slack-go/slack"

	"muster/bot"
)

// parts shows the parts of a modal or a home. Only modals have fields.
func parts(list []bot.Part, fields bool) (blocks []slack.Block) {
	for i, p := range list {
		if p.Title != "" {
			blocks = append(blocks, slack.NewHeaderBlock(plain(p.Title, maxHeader)))
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
	if len(blocks) > maxViewBlocks {
		blocks = append(blocks[:maxViewBlocks-1:maxViewBlocks-1], more())
	}
	if len(blocks) == 0 { // Slack rejects empty views
		blocks = sections([]string{""})
	}
	return blocks
}

// modalView is a modal in Slack's format.
func modalView(m bot.Modal) slack.ModalViewRequest {
	v := slack.ModalViewRequest{Type: slack.VTModal, Title: plain(m.Title, maxTitle), Close: plain("Close", maxTitle), CallbackID: cut(m.ID, maxName),
		Blocks: slack.Blocks{BlockSet: parts(m.Parts, true)}}
	if len(m.Note) <= maxNote {
		v.PrivateMetadata = m.Note
	}
	if m.Submit != "" {
		v.Submit, v.Close = plain(m.Submit, maxTitle), plain("Cancel", maxTitle)
	}
	return v
}

// homeView is a home in Slack's format.
func homeView(h bot.Home) slack.HomeTabViewRequest {
	return slack.HomeTabViewRequest{Type: slack.VTHomeTab, Blocks: slack.Blocks{BlockSet: parts(h.Parts, false)}, CallbackID: "home"}
}

// input is a field. When a modal is updated, Slack keeps the values of blocks with the same name.
func input(f bot.Field) *slack.InputBlock {
	act := actionKeep
	if f.Live {
		act = actionFill
	}
	var hint, placeholder *slack.TextBlockObject
	if f.Hint != "" {
		hint = plain(f.Hint, maxLabel)
	}
	if f.Placeholder != "" {
		placeholder = plain(f.Placeholder, maxPlaceholder)
	}
	block := slack.NewInputBlock(cut(f.Name, maxName), plain(f.Label, maxLabel), hint, element(f, act, placeholder))
	block.Optional, block.DispatchAction = f.Optional, f.Live
	return block
}

func element(f bot.Field, act string, placeholder *slack.TextBlockObject) slack.BlockElement {
	first := ""
	if len(f.Values) > 0 {
		first = f.Values[0]
	}
	if (f.Kind == bot.FieldChoice && !f.Typeahead || f.Kind == bot.FieldMany) && len(options(f.Choices)) == 0 {
		f.Kind = bot.FieldText // Slack rejects menus without options
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
		if f.Typeahead {
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
	most := maxTyped
	if f.Most > 0 {
		most = min(f.Most, maxTyped)
	}
	e := slack.NewPlainTextInputBlockElement(placeholder, act)
	e.Multiline, e.MaxLength, e.InitialValue = f.Kind == bot.FieldLong, most, cut(first, most)
	if f.Live {
		e.DispatchActionConfig = onEnter
	}
	return e
}

// onEnter sends a changed text when someone presses Enter, not with each character.
var onEnter = &slack.DispatchActionConfig{TriggerActionsOn: []string{"on_enter_pressed"}}

// options are choices in Slack's format: at most 100, with complete values.
func options(choices []bot.Choice) []*slack.OptionBlockObject {
	list := []*slack.OptionBlockObject{}
	for _, c := range choices {
		if c.Value == "" || len(c.Value) > maxOptionValue || len(list) == maxOptions {
			continue
		}
		var hint *slack.TextBlockObject
		if c.Hint != "" {
			hint = plain(c.Hint, maxOption)
		}
		list = append(list, slack.NewOptionBlockObject(c.Value, plain(c.Name, maxOption), hint))
	}
	return list
}

// formOf reads a modal's values. Done is the change or button; nil if the modal was submitted.
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
	// The change takes precedence over the state, which may be older.
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

// unfurls are link previews by link, in plain text.
func unfurls(list []bot.Unfurl) map[string]slack.Attachment {
	all := map[string]slack.Attachment{}
	for _, u := range list {
		blocks := append([]slack.Block{slack.NewSectionBlock(plain(u.Title, maxHeader), nil, nil)}, asides(u.Lines)...)
		blocks = blocks[:min(roomy(blocks), maxBlocks-1)]
		blocks = append(blocks, actions([]bot.Link{u.Link}, nil, "")...)
		all[u.URL] = slack.Attachment{Fallback: summary(u.Title), Blocks: slack.Blocks{BlockSet: blocks}}
	}
	return all
}
