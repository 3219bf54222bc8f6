const KEY = 'secondwind-theme';
export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export function ownTheme(): Theme {
  const kept = localStorage.getItem(KEY);
  return THEMES.find((theme) => theme === kept) ?? 'system';
}

/** Sets the theme that the person chose. Without a choice the system decides, by a media query. */
export function applyTheme(): void {
  const theme = ownTheme();
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

export function nextTheme(): Theme {
  const next = THEMES[(THEMES.indexOf(ownTheme()) + 1) % THEMES.length] ?? 'system';
  localStorage.setItem(KEY, next);
  applyTheme();
  return next;
}
