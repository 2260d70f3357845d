import FileDB
import Foundation

// A food diary. It ships with a store of foods, which `build.filedb` builds and the program never changes. The user's
// store is on top of it. So users can add foods and correct shipped ones, and the next version of the foods keeps the
// diary and the corrections:
//
//     FoodDiary
//     filedb --store Foods batch build.filedb
//     FoodDiary Foods MyDiary foods soup
//     FoodDiary Foods MyDiary new "My soup" 40
//     FoodDiary Foods MyDiary eat 12 250
//     FoodDiary Foods MyDiary day

/// A food. Its numbers are per 100 g.
struct Food: Codable, Sendable {
  var name: String
  var group: RecordID<FoodGroup>?
  var kcal: Int
  var protein: Double?
  var fat: Double?
  var carbohydrate: Double?
}

struct FoodGroup: Codable, Sendable {
  var name: String
}

/// What was eaten. The food may be a shipped one or the user's own.
struct Meal: Codable, Sendable {
  var food: RecordID<Food>
  var grams: Int
}

extension TableName<Food> { static var foods: Self { "foods" } }
extension TableName<FoodGroup> { static var groups: Self { "groups" } }
extension TableName<Meal> { static var diary: Self { "diary" } }

struct Diary {
  let foods: RecordTable<Food>
  let groups: RecordTable<FoodGroup>
  let meals: RecordTable<Meal>

  init(shipped: URL, user: URL) throws {
    let store = try RecordStore(at: user, attaching: shipped, as: "main")
    foods = try store.table(.foods)
    groups = try store.table(.groups)
    meals = try store.table(.diary)
  }

  /// A line for each food whose name has all these words.
  func list(_ words: [String]) throws -> [String] {
    try foods.snapshot().search(words.joined(separator: " "), in: ["name"]).map { record in
      let food = try record.value
      let group = try food.group.map { try groups.value(of: $0).name } ?? "yours"
      let mark = try foods.isOverridden(record.id) ? ", corrected" : ""
      return "\(record.id)  \(food.name): \(food.kcal) kcal (\(group)\(mark))"
    }
  }

  /// A line for each meal, and a line with the sum.
  func day() throws -> [String] {
    var sum = 0
    let lines = try meals.snapshot().values().get().map { meal in
      let food = try foods.value(of: meal.food)
      let energy = food.kcal * meal.grams / 100
      sum += energy
      return "\(meal.grams) g \(food.name): \(energy) kcal"
    }
    return lines + ["\(sum) kcal in all"]
  }
}

@main
struct FoodDiary {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    if arguments.isEmpty { return try showDay() }
    guard arguments.count >= 3 else { failUsage() }
    let folders = arguments.prefix(2).map { URL(fileURLWithPath: $0, isDirectory: true) }
    do {
      let diary = try Diary(shipped: folders[0], user: folders[1])
      for line in try run(Array(arguments.dropFirst(2)), in: diary) { print(line) }
    } catch let error as StoreError {
      print(error)
      exit(1)
    }
  }

  private static func run(_ command: [String], in diary: Diary) throws -> [String] {
    switch (command[0], command.dropFirst().map(\.self)) {
    case ("foods", let words): return try diary.list(words)
    case ("new", let food) where food.count == 2:
      return [try diary.foods.add(Food(name: food[0], kcal: number(food[1])), at: .top).description]
    case ("correct", let food) where food.count == 2:
      try diary.foods.update(id(food[0])) { $0.kcal = number(food[1]) }
    case ("forget", let food) where food.count == 1: try diary.foods.delete(id(food[0]))
    case ("restore", let food) where food.count == 1: try diary.foods.revert(id(food[0]))
    case ("eat", let meal) where meal.count == 2:
      let food = try diary.foods.record(with: id(meal[0]))
      try diary.meals.add(Meal(food: food.id, grams: number(meal[1])))
    case ("day", []): return try diary.day()
    default: failUsage()
    }
    return []
  }

  /// What the program shows without arguments: a day in a diary, with a soup that its user added.
  private static func showDay() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("diary-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let shipped = folder.appendingPathComponent("Foods")
    let foods = try RecordStore(at: shipped)
    let butter = try foods.table(.foods).add(Food(name: "Butter", kcal: 717))
    try foods.close()
    let diary = try Diary(shipped: shipped, user: folder.appendingPathComponent("Diary"))
    let soup = try diary.foods.add(Food(name: "My soup", kcal: 40), at: .top)
    try diary.foods.update(butter) { $0.kcal = 720 }
    try diary.meals.add(contentsOf: [Meal(food: butter, grams: 10), Meal(food: soup, grams: 250)])
    for line in try diary.day() { print(line) }
  }

  private static func failUsage() -> Never {
    let usage =
      "usage: FoodDiary [FOODS DIARY foods WORD... | new NAME KCAL | correct FOOD KCAL | forget FOOD"
      + " | restore FOOD | eat FOOD GRAMS | day]\n"
    FileHandle.standardError.write(Data(usage.utf8))
    exit(64)
  }

  private static func id(_ text: String) -> RecordID<Food> {
    guard let id = RecordID<Food>(text) else { failUsage() }
    return id
  }

  private static func number(_ text: String) -> Int {
    guard let number = Int(text) else { failUsage() }
    return number
  }
}
