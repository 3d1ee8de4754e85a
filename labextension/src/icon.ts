/** Four engines around a controller, in the colour of JupyterLab's other tabs. */
export default `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <g class="jp-icon3" fill="#616161">
    <circle cx="12" cy="12" r="3.5"/>
    <circle cx="4.5" cy="4.5" r="2.5"/>
    <circle cx="19.5" cy="4.5" r="2.5"/>
    <circle cx="4.5" cy="19.5" r="2.5"/>
    <circle cx="19.5" cy="19.5" r="2.5"/>
  </g>
  <path class="jp-icon3" fill="none" stroke="#616161" stroke-width="1.5"
        d="M4.5 4.5L19.5 19.5M19.5 4.5L4.5 19.5"/>
</svg>`;
