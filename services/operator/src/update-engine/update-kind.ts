import type { WatchSource } from '@metal/kube/controller/definition.ts';
import type { DefinedKind } from '@metal/kube/kinds/define-kind.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { Bmc } from '@metal/redfish/http/bmc.ts';
import type { Secrets } from '@metal/redfish/resources/secrets.ts';
import type { OperatorContext } from '../controllers/context.ts';
import type { ReportedCondition } from '../controllers/ready-condition.ts';
import type { Accepted, Attempt, Comparison, Step, Target, UpdateFacts, UpdateObject } from './types.ts';

export interface Session<T> {
  readonly bmc: Bmc;
  readonly object: T;
  readonly target: Target;
  readonly context: OperatorContext;
  /** Only for requests that read. */
  readonly signal: AbortSignal;
  /** The BMC accepted the change: it is only verified. */
  readonly isSent: boolean;
  /** Progress of the object. */
  readonly attempt: Attempt;
}

/** What one kind of update contributes. The engine has the order of the steps, the maintenance, deadlines, retries and the status. */
export interface UpdateKind<T extends UpdateObject> {
  /** Name of the controller. */
  readonly name: string;
  readonly kind: DefinedKind<T>;
  /** State of an object whose target is as desired. */
  readonly done: 'Applied' | 'Completed';
  readonly finalizer: string;
  /** The change is flashing: it is never repeated before running tasks and versions were looked at. */
  readonly isFlash: boolean;
  /** The restart after the change is left out if the BMC reports the change without it. */
  readonly restartsOnlyIfNeeded: (object: T) => boolean;
  /** The machine has to be on while the change is sent. */
  readonly needsHostOn: boolean;
  readonly targetOf: (object: T, context: OperatorContext) => Target;
  /** Why another object keeps this one from the target. The comparison is the last one of the present spec. */
  readonly rivalOf: (object: T, context: OperatorContext, comparison: Comparison | undefined) => string | undefined;
  /** Names of its ServerMaintenances to try, in order: an object with the same name may belong to somebody else. */
  readonly maintenanceNames: (object: T, server: Server) => readonly string[];
  /** Reads the BMC. A comparison with a version that the status of an object reports is not enough. */
  readonly compare: (session: Session<T>) => Promise<Comparison>;
  /** The digest of the desired state, as a comparison has it, without a request to the BMC; for a kind with variables. */
  readonly readDesired?: (object: T, context: OperatorContext) => Promise<string>;
  /** Makes a comparison with `isPrepared: false` one without. */
  readonly prepare?: (session: Session<T>) => Promise<void>;
  /** Sends one step. Reads the present values again just before; undefined: they are as desired, and nothing was sent. */
  readonly apply: (session: Session<T>, step: Step) => Promise<Accepted | undefined>;
  /** After a lost response or a crash: what became of a change that was sent. Undefined: there is no trace of it. */
  readonly findSent: (session: Session<T>, step: string) => Promise<Accepted | undefined>;
  /** Texts that no message of the BMC may bring into a status. */
  readonly secretsOf?: (session: Session<T>) => Promise<Secrets>;
  /** Reference on the target that the object holds, if the kind has one. */
  readonly claimTarget?: (object: T, context: OperatorContext) => Promise<void>;
  readonly holdsTarget?: (object: T, context: OperatorContext) => boolean;
  readonly releaseTarget?: (object: T, context: OperatorContext) => Promise<void>;
  /** Milliseconds for a step from the request to its verification. */
  readonly timeoutMs: (context: OperatorContext) => number;
  readonly fields?: (object: T, facts: UpdateFacts, isDone: boolean, at: string) => Readonly<Record<string, unknown>>;
  /** Conditions of v0.7.0 beside those that all kinds have. */
  readonly conditions: (object: T, facts: UpdateFacts, isDone: boolean) => readonly ReportedCondition[];
  readonly watches?: readonly WatchSource<OperatorContext>[];
  /** Keys of the objects that may have the same target. */
  readonly keysOfSameTarget: (object: T, context: OperatorContext) => readonly string[];
  /** Keys of the objects of a BMC. */
  readonly keysOfBmc: (bmcName: string, context: OperatorContext) => readonly string[];
  /** Keys of the objects of a server. */
  readonly keysOfServer: (server: Server, context: OperatorContext) => readonly string[];
  readonly shardKey: (object: T, context: OperatorContext) => string;
  readonly writes: readonly string[];
}
