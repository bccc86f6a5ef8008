# A Homebrew formula, unchecked: nobody has built with it yet. The workflow of a release replaces the address and the checksum of the source archive.
class Backissue < Formula
  desc "Terminal feed reader that polls each feed on its own schedule and shows why"
  homepage "@HOMEPAGE@"
  url "@URL@"
  sha256 "@SHA256@"
  license "MIT"

  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args
    generate_completions_from_executable(bin/"backissue", "completions", shells: [:bash, :fish, :zsh])
    system bin/"backissue", "man", "--all", "man"
    man1.install Dir["man/*.1"]
  end

  service do
    run [opt_bin/"backissue", "watch"]
    keep_alive successful_exit: false
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/backissue --version")
    (testpath/"feed.xml").write <<~XML
      <rss version="2.0"><channel><title>A feed</title><item><title>An entry</title></item></channel></rss>
    XML
    assert_match "An entry", shell_output("#{bin}/backissue parse feed.xml")
  end
end
