import { OperatorError } from '@metal/kube/errors.ts';

/** A template that is not understood, or that asks for what is not there. The message names line and construct. */
export class TemplateError extends OperatorError {
  constructor(line: number, problem: string) {
    super({ code: 'TemplateFailed', message: `line ${line}: ${problem}`, retry: 'blocked' });
  }
}
