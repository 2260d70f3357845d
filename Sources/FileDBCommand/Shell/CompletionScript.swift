import FileDB
import FileDBExchange

/// The scripts that make shells ask `filedb` for possible words. None of them evaluates the answer, because a table may
/// have any name.
enum CompletionScript: String, CaseIterable {
  case bash, zsh, fish

  /// The first word of such a request.
  static let request = "---complete"

  /// Answers a request of a script: a line with the kind, and then a line for each word, with a tab and a note after
  /// it.
  /// - Parameter words: the shell, and what its script passes on.
  static func answer(_ words: [String]) throws {
    guard let shell = words.first.flatMap(CompletionScript.init) else { return }
    let (before, current) = shell.line(Array(words.dropFirst()))
    switch Completion(try .forCommand(of: before), words: before, current: current).answer() {
    case .files: Terminal.print("files")
    case .folders: Terminal.print("folders")
    case .words(let candidates):
      Terminal.print("words")
      // For bash, a word begins after a = or a colon.
      let hidden =
        shell == .bash && words.count > 1 && current.hasSuffix(words[1])
        ? current.dropLast(words[1].count) : ""
      for candidate in candidates where !candidate.text.contains("\n") {
        let note = candidate.note.replacing(/[\u{0}-\u{1F}\u{7F}]+/, with: " ")
        Terminal.print("\(candidate.text.dropFirst(hidden.count))\t\(note)")
      }
    }
  }

  /// The words before the current one, without the program's name, and the current one.
  private func line(_ words: [String]) -> (before: [String], current: String) {
    guard self == .bash else { return (words.dropLast(), words.last ?? "") }
    var typed = ShellText.words(words.count > 1 ? words[1] : "")
    let current = typed.popLast() ?? ""
    return (Array(typed.dropFirst()), current)
  }

  var text: String {
    switch self {
    case .bash: Self.bashText
    case .zsh: Self.zshText
    case .fish: Self.fishText
    }
  }

  private static let bashText = #"""
    # Completes the words of filedb in bash.
    _filedb() {
      local kind text note
      COMPREPLY=()
      {
        IFS= read -r kind
        case $kind in
        files | folders)
          local flag=-f
          [ "$kind" = files ] || flag=-d
          compopt -o filenames +o nospace 2>/dev/null
          while IFS= read -r text; do COMPREPLY+=("$text"); done < <(compgen "$flag" -- "$2")
          ;;
        words)
          while IFS=$'\t' read -r text note; do
            # Within quotes a word stays as it is.
            if [[ ${COMP_WORDS[COMP_CWORD]} != [\"\']* ]]; then
              printf -v text %q "$text"
              [[ $text == *= || $text == *, ]] || text+=' '
            fi
            COMPREPLY+=("$text")
          done
          ;;
        esac
      } < <("$1" ---complete bash "$2" "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
    }
    complete -o nospace -F _filedb filedb filedb-extra
    """#

  private static let zshText = #"""
    #compdef filedb filedb-extra
    # Completes the words of filedb in zsh.
    _filedb() {
      local -a lines texts shown open
      local line text note
      lines=("${(@f)$("${(Q)words[1]}" ---complete zsh "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
      case $lines[1] in
      files) _files ;;
      folders) _files -/ ;;
      words)
        for line in "${(@)lines[2,-1]}"; do
          text=${line%%$'\t'*}
          note=${line#*$'\t'}
          if [[ $text == *= ]]; then
            open+=("$text")
          else
            texts+=("$text")
            shown+=("$text${note:+  -- $note}")
          fi
        done
        compadd -l -V filedb -d shown -a texts
        compadd -S '' -V fields -a open
        ;;
      esac
    }
    if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
      _filedb "$@"
    else
      compdef _filedb filedb filedb-extra
    fi
    """#

  private static let fishText = #"""
    # Completes the words of filedb in fish.
    function __filedb_complete
      set -l before (commandline -opc)
      set -l program $before[1]
      set -e before[1]
      set -l word (commandline -ct)
      set -l lines (command $program ---complete fish $before "$word" 2>/dev/null)
      switch "$lines[1]"
        case files
          __fish_complete_path "$word"
        case folders
          __fish_complete_directories "$word" ''
        case words
          set -e lines[1]
          printf '%s\n' $lines
      end
    end
    complete -c filedb -f -a '(__filedb_complete)'
    complete -c filedb-extra -f -a '(__filedb_complete)'
    """#
}
