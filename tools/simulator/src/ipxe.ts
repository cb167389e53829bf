/** A loaded image, with its size and digest. */
export interface Artefact {
  readonly url: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** The outcome of a boot script. */
export type ScriptEnd =
  | {
      readonly kind: 'boot';
      readonly kernel: Artefact;
      readonly commandLine: string;
      readonly initrds: readonly Artefact[];
    }
  /** The firmware continues with its next device. */
  | { readonly kind: 'exit'; readonly reason: string };

export interface ScriptEnvironment {
  readonly variables: Readonly<Record<string, string>>;
  /** URL of the script; URLs in it may be relative. */
  readonly url: string;
  /** Fetches another script; undefined on failure. */
  readonly fetchScript: (url: string) => Promise<string | undefined>;
  /** Loads an image once; undefined on failure. */
  readonly fetchImage: (url: string) => Promise<Artefact | undefined>;
  readonly sleep: (ms: number) => Promise<void>;
  /** Text of `echo`. */
  readonly echo?: (text: string) => void;
}

/** Endless scripts and chains without a pause are stopped, as by a watchdog. */
const maxSteps = 10_000;
const maxHops = 20;

/** Network settings: the network of a simulated machine is already configured. */
const withoutEffect = new Set(['dhcp', 'ifopen', 'ifclose', 'ifconf', 'ifstat', 'cpuid', 'console', 'colour', 'cpair']);

/**
 * Runs the part of iPXE's script language that boot services use (https://ipxe.org/scripting): set, clear, isset,
 * iseq, kernel, initrd, imgargs, imgfree, boot, chain, goto and labels, sleep, echo, prompt, exit; `||` and `&&`.
 * As in iPXE a failed command ends the script unless a command follows `||`, and an unknown command fails.
 */
export async function runScript(text: string, env: ScriptEnvironment): Promise<ScriptEnd> {
  return new Script(env).run(text);
}

interface Image {
  readonly artefact: Artefact;
  readonly commandLine: string;
}

type Flow = 'succeeded' | 'failed' | 'ended';

class Script {
  readonly #env: ScriptEnvironment;
  readonly #variables: Map<string, string>;
  #url: string;
  #lines: readonly string[] = [];
  #at = 0;
  #hops = 0;
  #kernel: Image | undefined;
  #initrds: Artefact[] = [];
  #end: ScriptEnd | undefined;

  constructor(env: ScriptEnvironment) {
    this.#env = env;
    this.#url = env.url;
    this.#variables = new Map(Object.entries(env.variables));
  }

  async run(text: string): Promise<ScriptEnd> {
    if (!this.#enter(text)) return { kind: 'exit', reason: 'the file is no iPXE script' };
    for (let step = 0; step < maxSteps; step += 1) {
      const line = this.#lines[this.#at];
      if (line === undefined) return { kind: 'exit', reason: 'the script ended without booting' };
      this.#at += 1;
      const flow = isStatement(line) ? await this.#statement(line) : 'succeeded';
      if (this.#end !== undefined) return this.#end;
      if (flow === 'failed') return { kind: 'exit', reason: `"${line}" failed` };
    }
    return { kind: 'exit', reason: 'the script runs in a circle' };
  }

  #enter(text: string): boolean {
    const lines = text.split(/\r?\n/).map((line) => line.trim());
    if (!/^#!(gpxe|ipxe)\b/.test(lines[0] ?? '')) return false;
    this.#lines = lines;
    this.#at = 0;
    return true;
  }

  /** `a || b` runs b when a fails, `a && b` when it succeeds; an empty command succeeds. */
  async #statement(line: string): Promise<Flow> {
    const parts = line.split(/(?<=\s|^)(\|\||&&)(?=\s|$)/);
    let flow = await this.#command(parts[0] ?? '');
    for (let index = 1; index < parts.length && flow !== 'ended'; index += 2) {
      const runsNext = parts[index] === '&&' ? flow === 'succeeded' : flow === 'failed';
      if (runsNext) flow = await this.#command(parts[index + 1] ?? '');
    }
    return flow;
  }

  async #command(text: string): Promise<Flow> {
    const tokens = this.#expand(text)
      .trim()
      .split(/\s+/)
      .filter((token) => token !== '');
    const [name, ...rest] = tokens;
    if (name === undefined) return 'succeeded';
    const { operands, options } = withoutOptions(name, rest);
    return this.#run(name, operands, options);
  }

  async #run(name: string, operands: readonly string[], options: ReadonlyMap<string, string>): Promise<Flow> {
    const [first = ''] = operands;
    const variable = first.replace(/:\w+$/, '');
    switch (name) {
      case 'set':
        this.#variables.set(variable, operands.slice(1).join(' '));
        return 'succeeded';
      case 'clear':
        return outcome(this.#variables.delete(variable));
      case 'isset':
        return outcome(first !== '');
      case 'iseq':
        return outcome(first === (operands[1] ?? ''));
      case 'goto':
        return this.#goto(first);
      case 'kernel':
      case 'imgselect':
        return this.#loadKernel(first, operands.slice(1));
      case 'initrd':
      case 'module':
        return this.#loadInitrd(first);
      case 'imgargs':
        return this.#setArguments(operands.slice(1));
      case 'imgfree':
        this.#kernel = undefined;
        this.#initrds = [];
        return 'succeeded';
      case 'chain':
      case 'imgexec':
        return this.#chain(first, options.has('--replace'));
      case 'boot':
        return first === '' ? this.#boot() : this.#chain(first, options.has('--replace'));
      case 'exit':
        this.#end = { kind: 'exit', reason: `exit ${first}`.trim() };
        return 'ended';
      case 'sleep':
      case 'prompt':
        await this.#env.sleep(Math.max(Number(first) || Number(options.get('--timeout')) / 1_000 || 0, 0.001) * 1_000);
        return 'succeeded';
      case 'echo':
        this.#env.echo?.(operands.join(' '));
        return 'succeeded';
      default:
        return outcome(withoutEffect.has(name));
    }
  }

  #goto(label: string): Flow {
    const index = this.#lines.indexOf(`:${label}`);
    if (index < 0) return 'failed';
    this.#at = index + 1;
    return 'succeeded';
  }

  async #loadKernel(url: string, parameters: readonly string[]): Promise<Flow> {
    const artefact = await this.#env.fetchImage(this.#absolute(url));
    if (artefact === undefined) return 'failed';
    this.#kernel = { artefact, commandLine: parameters.join(' ') };
    return 'succeeded';
  }

  async #loadInitrd(url: string): Promise<Flow> {
    const artefact = await this.#env.fetchImage(this.#absolute(url));
    if (artefact !== undefined) this.#initrds.push(artefact);
    return outcome(artefact !== undefined);
  }

  #setArguments(parameters: readonly string[]): Flow {
    if (this.#kernel === undefined) return 'failed';
    this.#kernel = { ...this.#kernel, commandLine: parameters.join(' ') };
    return 'succeeded';
  }

  /** Runs another script; with `--replace` instead of this one, otherwise this one continues when the other exits. */
  async #chain(url: string, replaces: boolean): Promise<Flow> {
    this.#hops += 1;
    if (this.#hops > maxHops) return 'failed';
    const target = this.#absolute(url);
    const text = await this.#env.fetchScript(target);
    if (text === undefined) return 'failed';
    if (text.startsWith('MZ')) return this.#execute(target);
    const caller = { url: this.#url, lines: this.#lines, at: this.#at };
    this.#url = target;
    if (replaces) return outcome(this.#enter(text));
    const end = await this.run(text);
    if (end.kind === 'boot') return 'ended';
    this.#end = undefined;
    [this.#url, this.#lines, this.#at] = [caller.url, caller.lines, caller.at];
    return outcome(end.reason === 'exit' || end.reason === 'exit 0');
  }

  /** An EFI program, for example a unified kernel image. */
  async #execute(url: string): Promise<Flow> {
    const kernel = await this.#env.fetchImage(url);
    if (kernel === undefined) return 'failed';
    this.#end = { kind: 'boot', kernel, commandLine: '', initrds: [] };
    return 'ended';
  }

  #boot(): Flow {
    if (this.#kernel === undefined) return 'failed';
    const { artefact, commandLine } = this.#kernel;
    this.#end = { kind: 'boot', kernel: artefact, commandLine, initrds: this.#initrds };
    return 'ended';
  }

  #absolute(url: string): string {
    return URL.canParse(url, this.#url) ? new URL(url, this.#url).href : url;
  }

  /** Settings may have a type (`uuid:hexhyp`), which has no effect on the known ones. */
  #expand(text: string): string {
    return text.replace(/\$\{([^}:]+)(?::[^}]*)?\}/g, (_, name: string) => this.#variables.get(name) ?? '');
  }
}

const isStatement = (line: string): boolean => line !== '' && !line.startsWith('#') && !line.startsWith(':');
const outcome = (success: boolean): Flow => (success ? 'succeeded' : 'failed');

/** Options with a value in the next word, by command. */
const withValue = new Set(['--name', '--timeout', '-n', '-t']);

/** Options precede the first operand; the rest belongs to the kernel. */
function withoutOptions(name: string, tokens: readonly string[]): { operands: string[]; options: Map<string, string> } {
  const options = new Map<string, string>();
  if (name === 'echo' || name === 'set') return { operands: [...tokens], options };
  let at = 0;
  for (; tokens[at]?.startsWith('-') === true; at += 1) {
    const option = tokens[at] ?? '';
    const [key = '', value] = option.split('=', 2);
    const next = withValue.has(key) && value === undefined;
    options.set(key, value ?? (next ? (tokens[at + 1] ?? '') : ''));
    if (next) at += 1;
  }
  return { operands: tokens.slice(at), options };
}
