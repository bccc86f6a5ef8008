# A Nix flake, unchecked: nobody has built with it yet. Copy it to the top of the source; `nix run` starts the program.
{
  description = "Terminal feed reader that polls each feed on its own schedule and shows why";

  inputs.nixpkgs.url = "nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = build: nixpkgs.lib.genAttrs systems (system: build nixpkgs.legacyPackages.${system});
    in
    {
      packages = each (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "backissue";
          version = "0.1.0";
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          buildType = "dist";
          # The tests start the program hundreds of times, in pseudo-terminals and on loopback addresses.
          doCheck = false;
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = ''
            $out/bin/backissue man --all man
            installManPage man/*.1
            installShellCompletion --cmd backissue \
              --bash <($out/bin/backissue completions bash) \
              --fish <($out/bin/backissue completions fish) \
              --zsh <($out/bin/backissue completions zsh)
          '';
          meta = {
            license = pkgs.lib.licenses.mit;
            mainProgram = "backissue";
          };
        };
      });
    };
}
