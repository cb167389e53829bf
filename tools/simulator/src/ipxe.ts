/** What a boot script led to. */
export type ScriptEnd =
  | {
      readonly kind: 'boot';
      readonly kernel: string;
      readonly commandLine: string;
      readonly initrds: readonly string[];
    }
  | { readonly kind: 'chain'; readonly url: string }
  | { readonly kind: 'exit' };

export interface ScriptWorld {
  readonly variables: Readonly<Record<string, string>>;
  /** Loads an image; false when it cannot be had. */
  readonly load: (url: string) => Promise<boolean>;
  readonly sleep: (ms: number) => Promise<void>;
}

/** Scripts that never end are cut off, as a watchdog would. */
const mostSteps = 500;

/**
 * Runs the part of iPXE's script language that boot services use: set, kernel, initrd, boot, chain, goto, labels,
 * iseq, sleep, echo, imgfree, exit, and `||` / `&&` after a command. https://ipxe.org/scripting
 */
export async function runScript(text: string, world: ScriptWorld): Promise<ScriptEnd> {
  const lines = text.split('\n').map((line) => line.trim());
  if (lines[0] !== '#!ipxe') return { kind: 'exit' };
  return new Script(lines, world).run();
}

class Script {
  readonly #lines: readonly string[];
  readonly #world: ScriptWorld;
  readonly #variables: Map<string, string>;
  #kernel: { url: string; commandLine: string } | undefined;
  #initrds: string[] = [];
  #at = 0;
  #end: ScriptEnd | undefined;

  constructor(lines: readonly string[], world: ScriptWorld) {
    this.#lines = lines;
    this.#world = world;
    this.#variables = new Map(Object.entries(world.variables));
  }

  async run(): Promise<ScriptEnd> {
    for (let step = 0; step < mostSteps && this.#at < this.#lines.length; step += 1) {
      const line = this.#lines[this.#at] ?? '';
      this.#at += 1;
      if (line !== '' && !line.startsWith('#') && !line.startsWith(':')) await this.#statement(line);
      if (this.#end !== undefined) return this.#end;
    }
    return { kind: 'exit' };
  }

  /** `a || b` runs b when a fails, `a && b` when it succeeds. */
  async #statement(line: string): Promise<void> {
    const parts = line.split(/(\|\||&&)/);
    let succeeded = await this.#command(parts[0] ?? '');
    for (let index = 1; index < parts.length && this.#end === undefined; index += 2) {
      const wanted = parts[index] === '&&';
      if (succeeded === wanted) succeeded = await this.#command(parts[index + 1] ?? '');
    }
    if (!succeeded) this.#end = { kind: 'exit' };
  }

  async #command(text: string): Promise<boolean> {
    const words = this.#expand(text)
      .trim()
      .split(/\s+/)
      .filter((word) => word !== '' && !word.startsWith('--'));
    const [name = '', ...rest] = words;
    const first = rest[0] ?? '';
    switch (name) {
      case 'set':
        this.#variables.set(first.replace(/:\w+$/, ''), rest.slice(1).join(' '));
        return true;
      case 'kernel':
        this.#kernel = { url: first, commandLine: rest.slice(1).join(' ') };
        return this.#world.load(first);
      case 'initrd':
        this.#initrds.push(first);
        return this.#world.load(first);
      case 'imgfree':
        this.#kernel = undefined;
        this.#initrds = [];
        return true;
      case 'iseq':
        return first === (rest[1] ?? '');
      case 'sleep':
        await this.#world.sleep(Number(first) * 1_000);
        return true;
      case 'goto':
        this.#at = this.#lines.indexOf(`:${first}`) + 1;
        return this.#at > 0;
      case 'chain':
        this.#end = { kind: 'chain', url: first };
        return true;
      case 'boot':
        return this.#boot();
      case 'exit':
        this.#end = { kind: 'exit' };
        return true;
      default:
        return true;
    }
  }

  #boot(): boolean {
    if (this.#kernel === undefined) return false;
    this.#end = {
      kind: 'boot',
      kernel: this.#kernel.url,
      commandLine: this.#kernel.commandLine,
      initrds: this.#initrds,
    };
    return true;
  }

  #expand(text: string): string {
    return text.replace(/\$\{([\w.-]+)\}/g, (_, name: string) => this.#variables.get(name) ?? '');
  }
}
