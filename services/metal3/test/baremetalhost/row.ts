import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import type { HostSurroundings } from '../../src/controllers/baremetalhost/facts.ts';
import type { Script } from './scripted-provisioner.ts';

/**
 * A pass over a host: the states that it enters, whether the status is saved, and how it ends. The random part of a pause is 0, so
 * that the first one is a minute.
 */
export interface Row {
  readonly title: string;
  readonly host: BareMetalHost;
  readonly script?: Script;
  readonly around?: Partial<HostSurroundings>;
  readonly found: readonly [entered: string, saved: 'saved' | 'unsaved', end: string];
  /** The last calls of the back end. */
  readonly calls?: string;
}

export const row = (
  title: string,
  host: BareMetalHost,
  script: Script,
  found: Row['found'],
  more: Pick<Row, 'around' | 'calls'> = {},
): Row => ({ title, host, script, found, ...more });
