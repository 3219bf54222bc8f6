import { createRoot } from 'react-dom/client';
import './style/tokens.css';
import './style/base.css';
import './style/shell.css';
import './style/pages.css';
import { App } from './shell/app.tsx';
import { applyTheme } from './shell/theme.ts';

applyTheme();
const root = document.getElementById('root');
if (root !== null) createRoot(root).render(<App />);
