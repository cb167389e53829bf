/** What is wrong with a BMC at the moment. Every fault is a verb on the BMC; `heal` takes all of them back. */
export interface Faults {
  latencyMs: number;
  /** Accepts requests and never answers. */
  hang: boolean;
  /** Answers everything with this status. */
  status: number | undefined;
  /** The one-time boot override is accepted and forgotten. */
  ignoresOverride: boolean;
  /** Resets are accepted and nothing happens. */
  powerNeverChanges: boolean;
  /** Bodies end in the middle. */
  truncates: boolean;
  /** Answers with a web page. */
  talksRubbish: boolean;
  /** UUID the system reports instead of its own; null reports none. */
  uuid: string | null | undefined;
  /** The machine ignores a graceful shutdown. */
  ignoresShutdown: boolean;
}

export const noFaults = (): Faults => ({
  latencyMs: 0,
  hang: false,
  status: undefined,
  ignoresOverride: false,
  powerNeverChanges: false,
  truncates: false,
  talksRubbish: false,
  uuid: undefined,
  ignoresShutdown: false,
});
