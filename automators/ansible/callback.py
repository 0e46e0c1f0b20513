"""Outputs Muster which task failed, what would be changed, and what the playbook gave to set_stats."""

import json
import os

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = '''
name: muster
type: notification
short_description: tells Muster how a run went
description: Writes which task failed, what would be changed and the custom stats to files that Muster reads.
'''

MOST = 2000  # letters of a message


def subject(result):
    """What a result is about: a path or a name, never a content."""
    if result.get('_ansible_no_log') or 'censored' in result:
        return ''
    given = (result.get('invocation') or {}).get('module_args')
    for source in (result, given):
        if not isinstance(source, dict):
            continue
        for key in ('dest', 'path', 'name'):
            value = source.get(key)
            if isinstance(value, (list, tuple)):
                value = ', '.join(str(v) for v in value)
            if value:
                return str(value)
    return ''


def parts(result):
    """The results of a loop's items, or the one that there is."""
    items = result.get('results')
    if isinstance(items, list) and items and all(isinstance(i, dict) for i in items):
        return items
    return [result]


def message(result):
    for part in parts(result):
        if part is not result and not part.get('failed'):
            continue
        for key in ('censored', 'msg', 'stderr', 'module_stderr', 'stdout'):
            said = str(part.get(key) or '').strip()
            if said == 'non-zero return code' and part.get('stderr'):
                continue
            if said:
                return said
    return str(result.get('msg') or '')


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = 'notification'
    CALLBACK_NAME = 'muster'

    def __init__(self, *args, **kwargs):
        super(CallbackModule, self).__init__(*args, **kwargs)
        self.place = os.environ['MUSTER_ANSIBLE']

    def note(self, name, task, **more):
        more.update(task=task.get_name().strip()[:MOST], action=task.action)
        with open(self.place + name, 'a') as f:
            f.write(json.dumps(more) + '\n')

    def v2_runner_on_failed(self, result, ignore_errors=False):
        if not ignore_errors:
            self.note('failed', result._task, msg=message(result._result)[:MOST])

    def v2_runner_on_unreachable(self, result):
        self.note('failed', result._task, msg=message(result._result)[:MOST])

    def v2_runner_on_ok(self, result):
        for part in parts(result._result):
            if part.get('changed'):
                self.note('changed', result._task, subject=subject(part)[:MOST])

    def v2_playbook_on_stats(self, stats):
        facts = {}
        for host in ['_run'] + sorted(h for h in stats.custom if h != '_run'):
            facts.update(stats.custom.get(host) or {})
        outputs = os.environ.get('MUSTER_OUTPUTS')
        if facts and outputs:
            with open(outputs, 'w') as f:
                f.write(json.dumps(facts, indent=1, default=str) + '\n')
