// Makes static/remoteEntry.*.js, which JupyterLab loads, and what it loads in turn. The libraries are
// JupyterLab's own (`import: false`): none is inside, and the result fits each 4.x.
const path = require('path');
const { ModuleFederationPlugin } = require('webpack').container;
const { name } = require('./package.json');

const versions = {
  '@jupyterlab/application': '^4.0.0',
  '@jupyterlab/apputils': '^4.0.0',
  '@jupyterlab/coreutils': '^6.0.0',
  '@jupyterlab/notebook': '^4.0.0',
  '@jupyterlab/services': '^7.0.0',
  '@jupyterlab/ui-components': '^4.0.0',
  '@lumino/widgets': '^2.0.0'
};
const shared = {};
for (const [library, requiredVersion] of Object.entries(versions)) {
  shared[library] = { singleton: true, import: false, requiredVersion };
}

module.exports = {
  mode: 'production',
  entry: {},
  devtool: false,
  output: {
    path: path.resolve(__dirname, 'static'),
    filename: '[name].[contenthash:16].js',
    publicPath: 'auto',
    uniqueName: name,
    clean: true
  },
  module: { rules: [{ test: /\.css$/, type: 'asset/source' }] },
  plugins: [
    new ModuleFederationPlugin({
      name,
      library: { type: 'var', name: ['_JUPYTERLAB', name] },
      filename: 'remoteEntry.[contenthash:16].js',
      exposes: { './extension': './lib/index.js' },
      shared
    })
  ]
};
