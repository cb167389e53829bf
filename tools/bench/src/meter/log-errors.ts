import * as z from 'zod';

const mostExamples = 5;
const mostCharacters = 400;

/** Levels of pino, and level names of zap. */
const leastLevel = 50;
const names = new Set(['error', 'dpanic', 'panic', 'fatal']);

const lineShape = z.object({
  level: z.union([z.number(), z.string()]),
  msg: z.string().optional(),
});

export interface ErrorsInLog {
  /** Number of lines of level error or above; undefined without lines with a level. */
  readonly count: number | undefined;
  /** The first lines with different messages, truncated. */
  readonly examples: readonly string[];
}

/** Counts lines of level error or above of operators, and keeps a few of them. */
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

  /** Lines since the last call. */
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
