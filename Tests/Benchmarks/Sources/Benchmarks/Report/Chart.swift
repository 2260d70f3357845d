import Foundation

/// A picture of the ratios: for some workloads a bar for each peer, from the line at which it is as quick as FileDB to
/// the right for a slower one and to the left for a quicker one. The scale is logarithmic. It follows the reader's
/// choice of light or dark, and has no background of its own.
struct Chart {
  private struct Bar {
    let peer: String
    let ratio: Double
    /// Says the size if it is not that of the group.
    let note: String
  }

  private struct Group {
    let title: String
    let bars: [Bar]
  }

  private static let workloads: [Workload] = [
    .open, .rows, .record, .page, .edit(.top, .commit), .edit(.update, .commit), .sort, .checkpoint, .writers,
    .command(.get),
  ]

  private static let width = 860.0
  private static let barsFrom = 235.0
  private static let barsTo = 740.0
  private static let barHeight = 12.0
  private static let lineHeight = 17.0
  private static let groupGap = 32.0
  private static let top = 62.0

  private let groups: [Group]
  /// The powers of ten at the scale's ends.
  private let powers: ClosedRange<Int>

  init(_ results: Results) {
    groups = Chart.workloads.compactMap { Chart.group($0, results) }
    let ratios = groups.flatMap(\.bars).map { log10($0.ratio) }
    powers = Int((min(ratios.min() ?? 0, 0)).rounded(.down))...Int(max(ratios.max() ?? 1, 1).rounded(.up))
  }

  /// A peer that is left out at the largest size has the bar of the largest size at which it is there.
  private static func group(_ workload: Workload, _ results: Results) -> Group? {
    guard let size = results.sizes(workload).last,
      let ours = results.median(workload, FileDBPeer.self, at: size)
    else { return nil }
    let bars = Peers.all.compactMap { peer -> Bar? in
      guard peer != FileDBPeer.self,
        let measured = results.sizes(workload).last(where: { results.ratio(workload, peer, at: $0) != nil }),
        let ratio = results.ratio(workload, peer, at: measured)
      else { return nil }
      return Bar(
        peer: peer.name, ratio: ratio, note: measured == size ? "" : " at \(grouped(measured)) records")
    }
    guard !bars.isEmpty else { return nil }
    return Group(
      title: "\(workload.title): FileDB \(duration(ours)) (\(grouped(size)) records)", bars: bars)
  }

  var svg: String {
    let height = groups.reduce(Chart.top + 10) { $0 + Chart.height(of: $1) }
    var y = Chart.top
    var body = ""
    for group in groups {
      body += draw(group, at: y)
      y += Chart.height(of: group)
    }
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(number(Chart.width)) \(number(height))" role="img" \
      aria-label="Times of other stores, divided by the time of FileDB">
      \(Chart.style)
      <text class="title" x="10" y="22">Times of other stores, divided by the time of FileDB</text>
      \(labels)
      \(body)</svg>

      """
  }

  private static let style = """
    <style>
      text { font: 12px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #24292f }
      .title { font-size: 15px; font-weight: 600 }
      .group { font-weight: 600 }
      .tick { fill: #6e7781; text-anchor: middle }
      .peer { text-anchor: end }
      .grid { stroke: #d0d7de }
      .same { stroke: #57606a; stroke-width: 1.5 }
      .slower { fill: #2f7fd6 }
      .quicker { fill: #d9822b }
      @media (prefers-color-scheme: dark) {
        text { fill: #e6edf3 }
        .tick { fill: #8d96a0 }
        .grid { stroke: #30363d }
        .same { stroke: #b1bac4 }
        .slower { fill: #4c9df3 }
        .quicker { fill: #f0a04b }
      }
    </style>
    """

  private static func height(of group: Group) -> Double {
    Double(group.bars.count) * lineHeight + groupGap
  }

  private func x(_ ratio: Double) -> Double {
    let share = (log10(ratio) - Double(powers.lowerBound)) / Double(powers.count - 1)
    return Chart.barsFrom + share * (Chart.barsTo - Chart.barsFrom)
  }

  private var labels: String {
    powers.map { power in
      let size = grouped(Int(pow(10, Double(abs(power)))))
      let x = number(x(pow(10, Double(power))))
      return "<text class=\"tick\" x=\"\(x)\" y=\"46\">\(power < 0 ? "1/" : "")\(size)×</text>"
    }.joined(separator: "\n")
  }

  /// The scale's lines beside a group's bars.
  private func lines(_ top: Double, _ bottom: Double) -> String {
    powers.map { power in
      let x = number(x(pow(10, Double(power))))
      return """
        <line class="\(power == 0 ? "same" : "grid")" x1="\(x)" x2="\(x)" y1="\(number(top))" y2="\(number(bottom))"/>

        """
    }.joined()
  }

  private func draw(_ group: Group, at top: Double) -> String {
    let first = top + 22
    let bars = group.bars.enumerated().map { draw($1, at: first + Double($0) * Chart.lineHeight) }
    return "<text class=\"group\" x=\"10\" y=\"\(number(top + 13))\">\(escaped(group.title))</text>\n"
      + lines(first - 3, first + Double(bars.count) * Chart.lineHeight - 2) + bars.joined()
  }

  /// The number stands to the right of the bar and of the line, if no bar is.
  private func draw(_ bar: Bar, at top: Double) -> String {
    let (from, to) = (x(min(1, bar.ratio)), x(max(1, bar.ratio)))
    let baseline = number(top + Chart.barHeight - 2)
    return """
      <text class="peer" x="\(number(Chart.barsFrom - 8))" y="\(baseline)">\(escaped(bar.peer))</text>
      <rect class="\(bar.ratio < 1 ? "quicker" : "slower")" x="\(number(from))" y="\(number(top))" \
      width="\(number(max(1, to - from)))" height="\(number(Chart.barHeight))" rx="2"/>
      <text x="\(number(to + 5))" y="\(baseline)">\(ratio(bar.ratio))\(escaped(bar.note))</text>

      """
  }

  private func number(_ value: Double) -> String { String(format: "%.1f", value) }

  private func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
  }
}
