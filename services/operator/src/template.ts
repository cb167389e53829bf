import { ConfigError } from './errors.ts';

/**
 * The part of Go's text/template that ignition templates need: `{{ .Name }}`, trimming with `{{-` and `-}}`, and
 * comments. Anything else is refused by name, so that a template never renders to something half right.
 */
const action = /(\s*)\{\{(-?)\s*(.*?)\s*(-?)\}\}(\s*)/gs;

export function renderTemplate(template: string, variables: Readonly<Record<string, string>>): string {
  return template.replace(
    action,
    (_, before: string, trimLeft: string, body: string, trimRight: string, after: string) => {
      const value = body.startsWith('/*') ? '' : (variables[nameIn(body)] ?? '');
      return `${trimLeft === '-' ? '' : before}${value}${trimRight === '-' ? '' : after}`;
    },
  );
}

/** Names of the variables a template uses. @throws ConfigError for an action that is not understood. */
export function variablesOf(template: string): Set<string> {
  const bodies = [...template.matchAll(action)].map((match) => match[3] ?? '');
  return new Set(bodies.filter((body) => !body.startsWith('/*')).map(nameIn));
}

const known = new Set(['Image', 'Flags', 'SSHPublicKey', 'PasswordHash', 'Token']);

function nameIn(body: string): string {
  const name = /^\.(\w+)$/.exec(body)?.[1];
  if (name !== undefined && known.has(name)) return name;
  throw new ConfigError(
    `ignition template: {{ ${body} }} is not understood; expected one of ${[...known].map((variable) => `{{ .${variable} }}`).join(', ')}`,
  );
}
