public struct Zone: Hashable, Sendable { public let name: String
  public static let utc = Zone(name: "UTC")
  public init(name: String) { self.name = name } }
public struct NightSpan { public let from: WallTime; public let to: WallTime
  public init(containing now: WallTime, in zone: Zone, rollsAtMinute: Int) { let d: Int64 = 86_400_000; let o = Int64(rollsAtMinute) * 60_000; let f = (now.milliseconds - o) / d * d + o; from = WallTime(milliseconds: f); to = WallTime(milliseconds: f + d) } }
public struct QuietSpan: Hashable, Sendable { public let from: WallTime; public let to: WallTime }
extension QuietHours { public func span(at now: WallTime, in zone: Zone) -> QuietSpan { QuietSpan(from: now, to: now) } }
