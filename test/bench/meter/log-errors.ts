import * as z from 'zod';

const mostExamples = 5;
const mostCharacters = 400;

/** Of pino, and by name of zap. */
const leastLevel = 50;
const names = new Set(['error', 'dpanic', 'panic', 'fatal']);

const lineShape = z.object({
  level: z.union([z.number(), z.string()]),
  msg: z.string().optional(),
});

export interface ErrorsInLog {
  /** Lines of level error or above; undefined when nobody wrote lines that tell their level. */
  readonly count: number | undefined;
  /** The first lines with different messages, cut where they are long. */
  readonly examples: readonly string[];
}

/** Lines of level error or above that operators write; however many there are, only a few are kept. */
export class LogErrors {
  #count = 0;
  #hasLevels = false;
  #examples = new Map<string, string>();

  read(line: string): void {
    const result = lineShape.safeParse(parsed(line));
    if (!result.success) return;
    this.#hasLevels = true;
    const { level, msg = '' } = result.data;
    if (typeof level === 'number' ? level < leastLevel : !names.has(level)) return;
    this.#count += 1;
    if (this.#examples.size < mostExamples && !this.#examples.has(msg))
      this.#examples.set(msg, line.length > mostCharacters ? `${line.slice(0, mostCharacters)}…` : line);
  }

  /** What was written since this was last asked. */
  take(): ErrorsInLog {
    const taken = { count: this.#hasLevels ? this.#count : undefined, examples: [...this.#examples.values()] };
    this.#count = 0;
    this.#examples = new Map();
    return taken;
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
