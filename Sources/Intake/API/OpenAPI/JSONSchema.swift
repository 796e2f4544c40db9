internal import CardRules

/// A JSON Schema (draft 2020-12, as OpenAPI 3.1 has it), and the few words that the API's own need.
struct JSONSchema: Hashable, Sendable {
    let json: JSONValue

    private init(_ members: [String: JSONValue]) { json = .object(members) }

    /// A body that can be pasted.
    typealias Example = JSONValue

    static func named(_ name: String) -> JSONSchema { JSONSchema(["$ref": .string("#/components/schemas/\(name)")]) }

    static func string(
        _ description: String? = nil, pattern: String? = nil, maximumLength: Int? = nil, minimumLength: Int? = nil,
        oneOf values: [String]? = nil
    ) -> JSONSchema {
        JSONSchema(
            described(
                description, type: "string",
                [
                    "pattern": pattern.map { .string($0) }, "maxLength": maximumLength.map { .integer(Int64($0)) },
                    "minLength": minimumLength.map { .integer(Int64($0)) },
                    "enum": values.map { .array($0.map { .string($0) }) },
                ]))
    }

    /// A string that is itself JSON of that shape.
    static func string(_ description: String, holding content: JSONSchema) -> JSONSchema {
        JSONSchema(
            described(
                description, type: "string",
                ["contentMediaType": .string(MediaType.json.rawValue), "contentSchema": content.json]))
    }

    static func integer(_ description: String? = nil, from: Int64? = nil, to: Int64? = nil) -> JSONSchema {
        JSONSchema(
            described(
                description, type: "integer",
                ["minimum": from.map { .integer($0) }, "maximum": to.map { .integer($0) }]))
    }

    static func number(_ description: String? = nil, from: Double? = nil, to: Double? = nil) -> JSONSchema {
        JSONSchema(
            described(
                description, type: "number", ["minimum": from.map { .number($0) }, "maximum": to.map { .number($0) }]))
    }

    static func flag(_ description: String? = nil) -> JSONSchema {
        JSONSchema(described(description, type: "boolean", [:]))
    }

    static func array(
        of element: JSONSchema, _ description: String? = nil, minimum: Int? = nil, maximum: Int? = nil
    ) -> JSONSchema {
        JSONSchema(
            described(
                description, type: "array",
                [
                    "items": element.json, "minItems": minimum.map { .integer(Int64($0)) },
                    "maxItems": maximum.map { .integer(Int64($0)) },
                ]))
    }

    /// An object with these members and no others, all of which may be left out.
    static func object(_ properties: [String: JSONSchema]) -> JSONSchema { object(nil, required: [], properties) }

    /// An object with these members and no others.
    static func object(
        _ description: String? = nil, required: [String], _ properties: [String: JSONSchema]
    ) -> JSONSchema {
        JSONSchema(
            described(
                description, type: "object",
                [
                    "properties": .object(properties.mapValues(\.json)), "additionalProperties": .bool(false),
                    "required": required.isEmpty ? nil : .array(required.map { .string($0) }),
                ]))
    }

    /// An object whose members are the caller's own.
    static func anyObject(_ description: String? = nil, of value: JSONSchema? = nil) -> JSONSchema {
        JSONSchema(described(description, type: "object", ["additionalProperties": value?.json]))
    }

    static func anything(_ description: String) -> JSONSchema { JSONSchema(["description": .string(description)]) }

    /// The same, or null.
    var orNull: JSONSchema {
        JSONSchema(["anyOf": .array([json, .object(["type": .string("null")])])])
    }

    private static func described(
        _ description: String?, type: String, _ others: [String: JSONValue?]
    ) -> [String: JSONValue] {
        var members = others.compactMapValues { $0 }
        members["type"] = .string(type)
        if let description { members["description"] = .string(description) }
        return members
    }
}
