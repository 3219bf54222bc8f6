import type { KeyboardEvent, ReactNode } from 'react';

interface TabsProps {
  tabs: readonly (readonly [id: string, name: string])[];
  current: string;
  onChange: (id: string) => void;
  children: ReactNode;
}

export function Tabs({ tabs, current, onChange, children }: TabsProps) {
  const move = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    const index = tabs.findIndex(([id]) => id === current);
    const [next] = tabs[(index + step + tabs.length) % tabs.length] ?? [current];
    onChange(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <div className="tabs">
      <div role="tablist" aria-label="Views of the run" onKeyDown={move}>
        {tabs.map(([id, name]) => (
          <button
            key={id}
            id={`tab-${id}`}
            type="button"
            role="tab"
            aria-selected={id === current}
            aria-controls="tab-panel"
            tabIndex={id === current ? 0 : -1}
            onClick={() => onChange(id)}
          >
            {name}
          </button>
        ))}
      </div>
      <div id="tab-panel" role="tabpanel" aria-labelledby={`tab-${current}`} tabIndex={-1}>
        {children}
      </div>
    </div>
  );
}
