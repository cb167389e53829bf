import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderTemplate, variablesOf } from './template.ts';

test('variables are filled in where they stand', () => {
  assert.equal(
    renderTemplate('run {{ .Image }} with {{.Flags}}', { Image: 'probe:1', Flags: '--a' }),
    'run probe:1 with --a',
  );
});

test('a dash trims the white space on its side, as in Go', () => {
  assert.equal(renderTemplate('a \n {{- .Image -}} \n b', { Image: '+' }), 'a+b');
});

test('comments leave nothing behind', () => {
  assert.equal(renderTemplate('a{{/* why */}}b', {}), 'ab');
});

test('a value that looks like a template is not rendered again', () => {
  assert.equal(renderTemplate('{{ .Flags }}', { Flags: '{{ .Token }} $&' }), '{{ .Token }} $&');
});

test('what is not understood is refused by name', () => {
  assert.throws(() => variablesOf('{{ if .Image }}x{{ end }}'), {
    code: 'InvalidConfiguration',
    message: /\{\{ if \.Image \}\} is not understood/,
  });
  assert.throws(() => variablesOf('{{ .Nonsense }}'), /expected one of \{\{ \.Image \}\}/);
});
