import type { Resource } from '../replies.ts';
import { type AttributeSet, factoryOf } from './attribute-set.ts';
import { type AttributeState, noValues, type PendingFate, started } from './change-attributes.ts';

/** Changed settings of a BMC: attributes of its manager, and properties of its resources. Empty until something is changed. */
export class ManagerSettings {
  /** What happens to pending values when the BMC restarts. */
  fate: PendingFate = 'apply';
  #states: Map<string, AttributeState> | undefined;
  #resources: Map<string, Resource> | undefined;
  #members: Map<string, Resource[]> | undefined;

  /** The attributes of a group. */
  stateOf(group: string, set: AttributeSet): AttributeState {
    return this.#states?.get(group) ?? { current: factoryOf(set), pending: noValues };
  }

  setState(group: string, state: AttributeState): void {
    this.#states = (this.#states ?? new Map<string, AttributeState>()).set(group, state);
  }

  /** The changed resource at a path. */
  resourceAt(path: string): Resource | undefined {
    return this.#resources?.get(path);
  }

  setResource(path: string, resource: Resource): void {
    this.#resources = (this.#resources ?? new Map<string, Resource>()).set(path, resource);
  }

  /** Members that were created in a collection. */
  membersOf(path: string): readonly Resource[] {
    return this.#members?.get(path) ?? [];
  }

  addMember(path: string, member: Resource): void {
    this.#members ??= new Map();
    this.#members.set(path, [...this.membersOf(path), member]);
  }

  /** Pending values become current with a restart of the BMC. */
  restart(): void {
    for (const [group, state] of this.#states ?? []) this.setState(group, started(state, this.fate));
    if (this.fate === 'drop') this.fate = 'apply';
  }

  reset(): void {
    this.fate = 'apply';
    this.#states = undefined;
    this.#resources = undefined;
    this.#members = undefined;
  }
}
