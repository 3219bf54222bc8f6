/** What a token may do. Each role may also do what the ones before it may. */
export const ROLES = ['viewer', 'reporter', 'operator'] as const;
export type Role = (typeof ROLES)[number];

export const isRole = (text: string): text is Role => (ROLES as readonly string[]).includes(text);
export const mayAct = (has: Role, needs: Role): boolean => ROLES.indexOf(has) >= ROLES.indexOf(needs);

/** A token and what it allows. */
export interface Grant {
  role: Role;
  token: string;
}
